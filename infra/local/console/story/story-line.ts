/** What a line is about; a word that stands before it. */
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

/** How it is for whoever reads it: as wished, gone wrong, or neither. */
export type StoryTone = 'good' | 'bad' | 'plain'

/** One thing that happened, in words. `text` may quote what came from outside: it is shown as text, never run. */
export type StoryLine = {
  /** On the one clock. */
  readonly at: string
  readonly subject: StorySubject
  readonly tone: StoryTone
  /** What it happened to: a payment's or a settlement's id. */
  readonly id?: string
  readonly text: string
}

/** An amount as people write it. */
export const rupiah = (minor: number): string => `Rp ${minor.toLocaleString('en-US')}`

/** So many of a thing. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`
