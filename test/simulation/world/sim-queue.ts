export type ReceivedMessage = {
  readonly messageId: string
  /** Removes this message as long as it is the message's newest receipt. */
  readonly receipt: string
  readonly body: string
  readonly sentAtMs: number
  readonly receiveCount: number
}

/** What a standard queue sometimes does. Probabilities are 0 to 1. */
export type Disorder = {
  readonly random: () => number
  readonly reorder: number
  /** The probability that a message comes a second time, even if the first one was deleted. */
  readonly duplicate: number
  readonly onDisorder?: (what: 'reorder' | 'duplicate') => void
}

type Stored = Pick<ReceivedMessage, 'messageId' | 'body' | 'sentAtMs'> & {
  /** A second copy, which has no further copies. */
  readonly isCopy: boolean
  visibleAtMs: number
  receipt: string | undefined
  receiveCount: number
}

/** Older messages are lost. */
const RETENTION_MS = 4 * 24 * 60 * 60_000

type Options = { readonly visibilityMs: number; readonly maxReceiveCount: number }
/** `delaySeconds`: whole seconds, 0 to 900. */
type Sent = { readonly body: string; readonly delaySeconds: number; readonly nowMs: number }
type Receiving = {
  readonly max: number
  readonly nowMs: number
  readonly disorder?: Disorder | undefined
}

/**
 * A standard queue of SQS. Received messages are hidden for a time, and after so many receives a
 * message is a dead letter. A test compares it with the emulator. Callers pass the time.
 */
export function createSimQueue(options: Options) {
  const stored = new Set<Stored>()
  const dead: Stored[] = []
  let sent = 0
  let receipts = 0

  const take = (
    message: Stored,
    nowMs: number,
    disorder: Disorder | undefined,
  ): ReceivedMessage => {
    const receipt = `${message.messageId}/${++receipts}`
    Object.assign(message, { receipt, receiveCount: message.receiveCount + 1 })
    if (disorder && !message.isCopy && disorder.random() < disorder.duplicate) {
      disorder.onDisorder?.('duplicate')
      const againAtMs = nowMs + Math.floor(disorder.random() * options.visibilityMs)
      stored.add({ ...message, isCopy: true, receipt: undefined, visibleAtMs: againAtMs })
    }
    message.visibleAtMs = nowMs + options.visibilityMs
    return { ...message, receipt }
  }

  const visible = (nowMs: number) => {
    const found: Stored[] = []
    for (const message of stored) {
      if (message.sentAtMs + RETENTION_MS <= nowMs) stored.delete(message)
      else if (message.visibleAtMs <= nowMs) found.push(message)
    }
    return found.toSorted((a, b) => a.visibleAtMs - b.visibleAtMs)
  }

  return {
    send: ({ body, delaySeconds, nowMs }: Sent) => {
      if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > 900) {
        throw new Error(
          `InvalidParameterValue: DelaySeconds ${delaySeconds} is not between 0 and 900`,
        )
      }
      const untouched = { receipt: undefined, receiveCount: 0, isCopy: false }
      const times = { sentAtMs: nowMs, visibleAtMs: nowMs + delaySeconds * 1_000 }
      stored.add({ messageId: `message-${++sent}`, body, ...times, ...untouched })
    },
    /**
     * Returns up to ten visible messages and hides them. Messages received too often go to the
     * dead-letter queue.
     */
    receive: ({ max, nowMs, disorder }: Receiving) => {
      const waiting = visible(nowMs)
      if (disorder && disorder.random() < disorder.reorder) {
        shuffle(waiting, disorder.random)
        if (waiting.length > 1) disorder.onDisorder?.('reorder')
      }
      const received: ReceivedMessage[] = []
      for (const message of waiting) {
        if (received.length === Math.min(max, 10)) break
        if (message.receiveCount < options.maxReceiveCount)
          received.push(take(message, nowMs, disorder))
        else if (stored.delete(message)) dead.push(message)
      }
      return received
    },
    /** False if the receipt is unknown or not the newest. */
    remove: (receipt: string) => {
      for (const message of stored) if (message.receipt === receipt) return stored.delete(message)
      return false
    },
    /** Undefined if there is no message. */
    nextDueMs: () => {
      const alive = [...stored].filter(
        ({ visibleAtMs, sentAtMs }) => visibleAtMs < sentAtMs + RETENTION_MS,
      )
      return alive.length > 0 ? Math.min(...alive.map(({ visibleAtMs }) => visibleAtMs)) : undefined
    },
    /** Oldest message first. */
    dead: (): readonly Readonly<Stored>[] => [...dead],
  }
}

function shuffle(items: Stored[], random: () => number) {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const [a, b] = [items[last], items[other]]
    if (a !== undefined && b !== undefined) [items[last], items[other]] = [b, a]
  }
}

export function sqsEvent(messages: readonly Pick<ReceivedMessage, 'messageId' | 'body'>[]) {
  return { Records: messages.map(({ messageId, body }) => ({ messageId, body })) }
}
