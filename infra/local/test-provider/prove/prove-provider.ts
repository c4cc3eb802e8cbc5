import { CHANNELS } from '../../../../shared/channel/channels.ts'
import { InterviewEnded, interview } from './interview.ts'
import type { OpenQuestion, ReceivedCallback, Study, Verdict } from './open-question.ts'
import { QUESTIONS_OF_CALLBACKS } from './questions-of-callbacks.ts'
import { QUESTIONS_OF_CREATES } from './questions-of-creates.ts'
import { QUESTIONS_OF_NEWS } from './questions-of-news.ts'
import { type ChannelWalk, nameOf, walkChannel } from './walk-channel.ts'

export const OPEN_QUESTIONS: readonly OpenQuestion[] = [
  ...QUESTIONS_OF_CREATES,
  ...QUESTIONS_OF_NEWS,
  ...QUESTIONS_OF_CALLBACKS,
]

type Answer = Pick<OpenQuestion, 'id' | 'question'> & Verdict

type Ways = Parameters<typeof interview>[0] & {
  readonly nowMs: () => number
  readonly callbacks: readonly ReceivedCallback[] | undefined
  readonly onProgress: (line: string) => void
}

/**
 * Walks every channel of our table at the provider, then answers what its documents leave open. A
 * question is not asked if the account lacks the channel, or the provider has ended the walk;
 * earlier answers are kept.
 */
export async function proveProvider({ onProgress, ...ways }: Ways) {
  const asking = interview(ways)
  const walks = new Map<string, ChannelWalk>()
  const study: Study = { ...ways, interview: asking, walks }
  const answers: Answer[] = []
  let endedBy: string | undefined
  const run = async (step: () => Promise<void>) => {
    if (endedBy !== undefined) return
    try {
      await step()
    } catch (error) {
      if (!(error instanceof InterviewEnded)) throw error
      endedBy = error.message
    }
  }
  for (const channel of CHANNELS) {
    await run(async () => {
      onProgress(`channel ${nameOf(channel)}`)
      walks.set(nameOf(channel), await walkChannel(asking, channel))
    })
  }
  for (const { id, question, ask } of OPEN_QUESTIONS) {
    await run(async () => {
      const found = await ask(study)
      answers.push({ id, question, ...found })
    })
    const because = `the walk ended: ${endedBy}`
    if (!answers.some((answer) => answer.id === id))
      answers.push({ id, question, answer: 'not asked', because })
  }
  const { exchanges } = asking
  return { answers, exchanges, ...(endedBy !== undefined && { endedBy }) }
}
