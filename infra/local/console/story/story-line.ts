import * as v from 'valibot'

/** One activity, in words. `text` may quote foreign input, so it must be shown as plain text. */
export const StoryLineSchema = v.object({
  /** The time on the local clock. */
  at: v.string(),
  /** Shown as the line's first word. */
  subject: v.picklist([
    'payment',
    'webhook',
    'settlement',
    'suspense',
    'provider',
    'callback',
    'operator',
    'work',
    'alert',
    'clock',
  ]),
  /** Whether the line tells a success, a failure, or neither. */
  tone: v.picklist(['good', 'bad', 'plain']),
  /** The id of the payment or settlement. */
  id: v.optional(v.string()),
  text: v.string(),
})
export type StoryLine = v.InferOutput<typeof StoryLineSchema>

/** An amount in rupiah, for people. */
export const rupiah = (minor: number): string => `Rp ${minor.toLocaleString('en-US')}`

/** A count with its noun, in singular or plural. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`
