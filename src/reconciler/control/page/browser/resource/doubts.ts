// Says which objects of a resource may differ from Git although no difference is shown.

/** Returns sentences about objects that may differ. Without any, all objects were compared. */
export function doubtsAbout({ uncertain, omitted }: { readonly uncertain: number; readonly omitted: number }) {
  return [
    ...(uncertain === 0 ? [] : [`Only a dry run could tell whether ${uncertain} of the objects differ.`]),
    ...(omitted === 0 ? [] : [`${omitted} more of its objects were not read, and may differ.`]),
  ];
}
