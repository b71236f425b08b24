// Checks label selectors of workloads (meta.k8s.io/v1 LabelSelector).

import { isObject, type JsonObject } from '#std/json.ts';
import { selects } from '../../../rules/label-selector.ts';
import type { Cause } from '../../api/status.ts';
import { qualifiedNameComplaints } from '../../api/validate-metadata.ts';
import { itemsAt, objectAt } from '../fields.ts';
import { forbiddenField, invalidValue, required } from './cause.ts';

/** Checks a required selector: it must not be empty and must match the template's labels. */
export function validateWorkloadSelector(spec: JsonObject, field: string, kind: string): Cause[] {
  const { selector } = spec;
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  const path = `${field}.selector`;
  const mismatch = invalidValue(
    `${field}.template.metadata.labels`,
    labels,
    '`selector` does not match template `labels`',
  );
  if (!isObject(selector)) return [required(path), ...(kind === 'statefulset' ? [] : [mismatch])];
  const empty =
    Object.keys(objectAt(selector, 'matchLabels')).length + itemsAt(selector, 'matchExpressions').length === 0;
  const expressions = validateExpressions(selector, path);
  if (expressions.length > 0) return expressions;
  if (empty) return [invalidValue(path, selector, `empty selector is invalid for ${kind}`)];
  return selects(selector, labels) ? [] : [mismatch];
}

export function validateExpressions(selector: JsonObject, path: string): Cause[] {
  return itemsAt(selector, 'matchExpressions').flatMap(({ key, operator, values }, index) => {
    const place = `${path}.matchExpressions[${index}]`;
    const causes: Cause[] = [];
    const count = Array.isArray(values) ? values.length : 0;
    if (operator === 'In' || operator === 'NotIn') {
      if (count === 0) causes.push(required(`${place}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      if (count > 0) causes.push(forbiddenField(`${place}.values`, why));
    } else {
      causes.push(invalidValue(`${place}.operator`, operator, 'not a valid selector operator'));
    }
    const called = 'a valid label key';
    const complaints = qualifiedNameComplaints(String(key ?? ''), called);
    return [...causes, ...complaints.map((why) => invalidValue(`${place}.key`, key, why))];
  });
}
