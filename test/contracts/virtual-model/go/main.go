// Runs templates with text/template: reads a JSON list of [template, data] and writes a JSON list of results, each the
// text, or ["parse"] or ["run", error]. Whole numbers of the data are ints, as in our engine.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"text/template"
)

func plain(value any) any {
	switch v := value.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int(v)
		}
		return v
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, item := range v {
			object[key] = plain(item)
		}
		return object
	}
	return value
}

var functions = template.FuncMap{
	"json": func(value any) (string, error) {
		text, err := json.Marshal(value)
		return string(text), err
	},
	"quote": func(text string) string { return fmt.Sprintf("%q", text) },
	"fromJson": func(text string) (any, error) {
		var value any
		err := json.Unmarshal([]byte(text), &value)
		return plain(value), err
	},
}

func answer(text string, data any) any {
	parsed, err := template.New("t").Funcs(functions).Parse(text)
	if err != nil {
		return []string{"parse"}
	}
	var out strings.Builder
	if err := parsed.Execute(&out, plain(data)); err != nil {
		return []string{"run", err.Error()}
	}
	return out.String()
}

func main() {
	var cases [][2]any
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	answers := make([]any, len(cases))
	for i, each := range cases {
		answers[i] = answer(each[0].(string), each[1])
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answers); err != nil {
		panic(err)
	}
}
