import * as v from 'valibot'

const count = (what: string) => v.pipe(v.number(), v.integer(), v.minValue(0), v.description(what))

/** The answer of a bulk redelivery: its type and its API description. */
export const RedeliveredDtoSchema = v.object({
  count: count('So many deliveries are on their way again, or for the first time.'),
  passed_over: v.optional(
    count(
      'So many were wanted and had their ten rounds today. Ask again after 00:00 UTC. Absent where there are none.',
    ),
  ),
  next: v.pipe(
    v.nullable(v.string()),
    v.description('Send it as `cursor`, with the same `since` and `status`. Null: nothing is left.'),
  ),
})

export type RedeliveredDto = v.InferOutput<typeof RedeliveredDtoSchema>
