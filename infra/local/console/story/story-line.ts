/** The subject of a line, shown as its first word. */
export type StorySubject =
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

/** Whether the line tells a success, a failure, or neither. */
export type StoryTone = 'good' | 'bad' | 'plain'

/** One activity, in words. `text` may quote foreign input, so it must be shown as plain text. */
export type StoryLine = {
  /** The time on the local clock. */
  readonly at: string
  readonly subject: StorySubject
  readonly tone: StoryTone
  /** The id of the payment or settlement. */
  readonly id?: string
  readonly text: string
}

/** An amount in rupiah, for people. */
export const rupiah = (minor: number): string => `Rp ${minor.toLocaleString('en-US')}`

/** A count with its noun, in singular or plural. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`
