import type { SQSEvent, SQSRecord } from 'aws-lambda'

export type SimQueueOptions = {
  /** How long a received message stays hidden when nobody removes it. */
  readonly visibilityMs: number
  /** A message is received this often; then it is set aside. */
  readonly maxReceiveCount: number
  /** Older messages are lost; four days when not given. */
  readonly retentionMs?: number
}

export type SentMessage = {
  readonly body: string
  /** Whole seconds, 0 to 900. */
  readonly delaySeconds: number
  readonly group?: string
  readonly nowMs: number
}

export type ReceivedMessage = {
  readonly messageId: string
  /** Removes this message as long as it is the message's newest receipt. */
  readonly receipt: string
  readonly body: string
  readonly group: string | undefined
  readonly sentAtMs: number
  readonly firstReceivedAtMs: number
  readonly receiveCount: number
}

/** What a standard queue does now and then, drawn from the world's source of chance. Probabilities are 0 to 1. */
export type Disorder = {
  readonly random: () => number
  /** That the messages come in another order than they became visible. */
  readonly reorder: number
  /** That a copy of a message stays behind on another server: it comes once more, whatever is done to the first. */
  readonly duplicate: number
}

export type DeadMessage = Pick<ReceivedMessage, 'messageId' | 'body' | 'group' | 'sentAtMs' | 'receiveCount'>

export type SimQueue = {
  /** Answers the message's id. */
  readonly send: (message: SentMessage) => string
  /** Up to ten visible messages, which are hidden from then on; those received too often are set aside instead. */
  readonly receive: (request: {
    readonly max: number
    readonly nowMs: number
    readonly disorder?: Disorder | undefined
  }) => readonly ReceivedMessage[]
  /** Removes the message. False when the receipt is unknown or no longer its newest. */
  readonly remove: (receipt: string) => boolean
  /** When the next message is or was visible; undefined when none will be. */
  readonly nextDueMs: () => number | undefined
  /** Messages not removed: visible, hidden and delayed. */
  readonly size: () => number
  /** What was set aside, oldest first. */
  readonly dead: () => readonly DeadMessage[]
  /** What an operator does: everything set aside is sent anew. */
  readonly redrive: (nowMs: number) => void
}

type Stored = {
  readonly messageId: string
  readonly body: string
  readonly group: string | undefined
  readonly sentAtMs: number
  /** A copy that a server kept; it has no further copies. */
  readonly isCopy: boolean
  visibleAtMs: number
  receipt: string | undefined
  firstReceivedAtMs: number | undefined
  receiveCount: number
}

const DAY_MS = 24 * 60 * 60_000
const MAX_DELAY_SECONDS = 900
const MAX_RECEIVED = 10

/**
 * A standard queue of SQS with its dead-letter queue: at least once, in about the order of sending. It has no clock:
 * every call says what time it is. Held to the emulator by the conformance suite.
 */
export const createSimQueue = ({ retentionMs = 4 * DAY_MS, ...options }: SimQueueOptions): SimQueue => {
  const stored = new Set<Stored>()
  const dead: DeadMessage[] = []
  let sent = 0
  let receipts = 0

  const put = (message: Pick<Stored, 'body' | 'group' | 'sentAtMs' | 'visibleAtMs'>): string => {
    const messageId = `message-${++sent}`
    const untouched = { receipt: undefined, firstReceivedAtMs: undefined, receiveCount: 0, isCopy: false }
    stored.add({ ...message, ...untouched, messageId })
    return messageId
  }

  const setAside = (message: Stored) => {
    const { messageId, body, group, sentAtMs, receiveCount } = message
    stored.delete(message)
    dead.push({ messageId, body, group, sentAtMs, receiveCount })
  }

  const take = (message: Stored, nowMs: number, disorder: Disorder | undefined): ReceivedMessage => {
    message.receiveCount++
    message.receipt = `${message.messageId}/${++receipts}`
    message.firstReceivedAtMs ??= nowMs
    if (disorder && !message.isCopy && disorder.random() < disorder.duplicate) {
      const againAtMs = nowMs + Math.floor(disorder.random() * options.visibilityMs)
      stored.add({ ...message, isCopy: true, receipt: undefined, visibleAtMs: againAtMs })
    }
    message.visibleAtMs = nowMs + options.visibilityMs
    const { messageId, receipt, body, group, sentAtMs, firstReceivedAtMs, receiveCount } = message
    return { messageId, receipt, body, group, sentAtMs, firstReceivedAtMs, receiveCount }
  }

  const visible = (nowMs: number): Stored[] => {
    const found: Stored[] = []
    for (const message of stored) {
      if (message.sentAtMs + retentionMs <= nowMs) stored.delete(message)
      else if (message.visibleAtMs <= nowMs) found.push(message)
    }
    return found.toSorted((a, b) => a.visibleAtMs - b.visibleAtMs)
  }

  return {
    send: ({ body, delaySeconds, group, nowMs }) => {
      if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > MAX_DELAY_SECONDS) {
        throw new Error(`InvalidParameterValue: DelaySeconds ${delaySeconds} is not between 0 and 900`)
      }
      return put({ body, group, sentAtMs: nowMs, visibleAtMs: nowMs + delaySeconds * 1_000 })
    },
    receive: ({ max, nowMs, disorder }) => {
      const waiting = visible(nowMs)
      if (disorder && disorder.random() < disorder.reorder) shuffle(waiting, disorder.random)
      const received: ReceivedMessage[] = []
      for (const message of waiting) {
        if (received.length === Math.min(max, MAX_RECEIVED)) break
        if (message.receiveCount >= options.maxReceiveCount) setAside(message)
        else received.push(take(message, nowMs, disorder))
      }
      return received
    },
    remove: (receipt) => {
      for (const message of stored) if (message.receipt === receipt) return stored.delete(message)
      return false
    },
    nextDueMs: () => {
      let next: number | undefined
      for (const { visibleAtMs, sentAtMs } of stored) {
        if (visibleAtMs < sentAtMs + retentionMs && visibleAtMs < (next ?? Number.POSITIVE_INFINITY)) next = visibleAtMs
      }
      return next
    },
    size: () => stored.size,
    dead: () => [...dead],
    redrive: (nowMs) => {
      for (const { body, group } of dead.splice(0)) put({ body, group, sentAtMs: nowMs, visibleAtMs: nowMs })
    },
  }
}

const shuffle = (items: Stored[], random: () => number): void => {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const [a, b] = [items[last], items[other]]
    if (a !== undefined && b !== undefined) [items[last], items[other]] = [b, a]
  }
}

/** The event that Lambda makes of received messages. */
export const sqsEvent = (messages: readonly ReceivedMessage[]): SQSEvent => ({ Records: messages.map(sqsRecord) })

const sqsRecord = (message: ReceivedMessage): SQSRecord => ({
  messageId: message.messageId,
  receiptHandle: message.receipt,
  body: message.body,
  attributes: {
    ApproximateReceiveCount: String(message.receiveCount),
    SentTimestamp: String(message.sentAtMs),
    SenderId: 'gateway',
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAtMs),
    ...(message.group !== undefined && { MessageGroupId: message.group }),
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: '',
  awsRegion: 'ap-southeast-3',
})
