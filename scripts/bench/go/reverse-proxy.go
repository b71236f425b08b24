// The least that Go does as a reverse proxy: no checks, connections kept. The bench builds it where Go is there.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

func main() {
	target, err := url.Parse(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	// By default it keeps two connections, and opens a new one for most requests.
	transport.MaxIdleConns = 0
	transport.MaxIdleConnsPerHost = 1 << 20
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = transport
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("serving http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, proxy))
}
