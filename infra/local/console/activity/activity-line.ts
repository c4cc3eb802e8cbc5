import * as v from 'valibot'

/** The texts may quote foreign input: show them only as plain text. */
export const ActivityLineSchema = v.object({
  at: v.string(),
  /** A reader also shows a subject that it does not know. */
  subject: v.string(),
  tone: v.picklist(['good', 'bad', 'plain']),
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

export function rupiah(minor: number) {
  return `Rp ${minor.toLocaleString('en-US')}`
}

export function words(code: string) {
  return code.replaceAll('_', ' ')
}

export function countOf(count: number, noun: string) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
