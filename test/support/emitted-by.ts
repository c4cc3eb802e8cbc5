import * as v from 'valibot'

const EmfLine = v.looseObject({
  _aws: v.object({
    Timestamp: v.number(),
    CloudWatchMetrics: v.array(
      v.object({
        Namespace: v.string(),
        Dimensions: v.array(v.array(v.string())),
        Metrics: v.array(v.object({ Name: v.string(), Unit: v.string() })),
      }),
    ),
  }),
})

/**
 * The metrics that CloudWatch reads from a log line: each value, once for each set of dimensions.
 */
export function emittedBy(text: string) {
  const line: unknown = JSON.parse(text)
  if (!v.is(v.object({ _aws: v.unknown() }), line)) return []
  const { _aws, ...members } = v.parse(EmfLine, line)
  return _aws.CloudWatchMetrics.flatMap(({ Namespace: namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) =>
      Metrics.map(({ Name: name, Unit: unit }) => ({
        namespace,
        name,
        unit,
        // CloudWatch drops a metric whose dimension has no text on the line. Here such a line
        // throws.
        dimensions: Object.fromEntries(
          names.map((dimension) => [
            dimension,
            v.parse(v.pipe(v.string(), v.minLength(1)), members[dimension]),
          ]),
        ),
        value: v.parse(v.number(), members[name]),
      })),
    ),
  )
}
