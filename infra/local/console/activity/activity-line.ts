import * as v from 'valibot'

/** One activity, in words. Its texts may quote foreign input, so show them only as plain text. */
export const ActivityLineSchema = v.object({
  /** The time on the local clock. */
  at: v.string(),
  /** The line's first word. A reader also shows a subject that it does not know. */
  subject: v.string(),
  /** Whether the line reports a success, a failure, or neither. */
  tone: v.picklist(['good', 'bad', 'plain']),
  /** The id of the payment or settlement. */
  id: v.optional(v.string()),
  text: v.string(),
})

type Subject =
  | 'payment'
  | 'webhook'
  | 'settlement'
  | 'suspense'
  | 'provider'
  | 'callback'
  | 'operator'
  | 'work'
  | 'alert'
  | 'clock'

export type ShownLine = v.InferOutput<typeof ActivityLineSchema>
export type ActivityLine = ShownLine & { readonly subject: Subject }

export function rupiah(minor: number): string {
  return `Rp ${minor.toLocaleString('en-US')}`
}

export function words(code: string): string {
  return code.replaceAll('_', ' ')
}

/** A count with its noun, in singular or plural. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
