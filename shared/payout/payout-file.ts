import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import { RegisteredSchema } from '../client/client-register.ts'
import type { Deps } from '../deps.ts'
import { invalidField, notFound, refused } from '../errors.ts'
import { findAuditHead } from '../operator/audit-record-store.ts'
import { encodeCursor, readCursor } from '../page.ts'
import { ANSWER_HINT, BATCHES_SUBJECT, type Batch, cancelHint } from '../settlement/batch/batch.ts'
import { findBatch, otherLiveBatch, settlementsIn } from '../settlement/batch/batch-store.ts'
import { cancelBatch } from './cancel-batch.ts'
import { type BatchDeps, fillBatch, keepListed, openNextBatch, withLines } from './fill-batch.ts'
import { judgeClients, SIDE_BY_SIDE } from './judge-payouts.ts'
import { type PayoutFormat, payoutFormats } from './payout-formats.ts'
import { requireMatchingBooks } from './payout-gate.ts'

const Progress = v.strictObject({ position: v.optional(RegisteredSchema) })

type PayoutFileInput = {
  readonly operator: string
  readonly format: PayoutFormat
  /** An earlier batch: the same lines again. */
  readonly batch?: number | undefined
  readonly cancel?: number | undefined
  readonly notes?: string | undefined
  readonly cursor?: string | undefined
}

type PayoutFileDeps = BatchDeps & Pick<Deps, 'monotonicMs'>

/**
 * The file for the bank (design section 15). A new batch claims every recorded settlement that
 * passes the payout gate, and uses its approval up; the others are left out, each with its reason
 * and command. A batch that a crash left open is finished first: a second run, or a second operator
 * at the same time, claims nothing twice. A settlement is in at most one live batch, unless the
 * bank answers to a cancelled one.
 */
export async function payoutFile(deps: PayoutFileDeps, input: PayoutFileInput) {
  const { operator, format, batch: number, cancel, notes } = input
  if (cancel !== undefined) {
    if (notes === undefined) throw invalidField('notes', 'say why')
    return { batch: toBatchDto(await cancelBatch(deps, { number: cancel, operator, notes })) }
  }
  if (number !== undefined) return answerOf(await readyBatch(deps, number, operator), format)
  // The end of the register: its number is the number of the last batch.
  const last = await findAuditHead(deps, BATCHES_SUBJECT)
  const lastBatch = last && (await findBatch(deps, last.number))
  if (lastBatch?.state === 'open') {
    if (lastBatch.usedAt !== undefined) await keepListed(deps, lastBatch, operator)
    else if (lastBatch.settlementIds) {
      const finished = await fillBatch(deps, lastBatch, { operator })
      return { ...answerOf(finished, format), continuing: true, cursor: encodeCursor({}) }
    }
  }
  const { payouts, leftOut, position } = await judgeClients(
    deps,
    readCursor(Progress, input.cursor)?.position,
  )
  const rest = position && { continuing: true, cursor: encodeCursor({ position }) }
  if (payouts.length === 0) return { batch: null, file: null, left_out: leftOut, ...rest }
  const opened = await openNextBatch(deps, last, { payouts, operator })
  const filled = await fillBatch(deps, opened, { payouts, operator })
  leftOut.push(...filled.leftOut)
  return { ...answerOf({ ...filled, leftOut }, format), ...rest }
}

type Filled = Awaited<ReturnType<typeof fillBatch>>

function answerOf({ batch, lines, leftOut }: Filled, format: PayoutFormat) {
  requireUnused(batch)
  const file = payoutFormats[format]({ batch, lines })
  return { batch: toBatchDto(batch), file, left_out: leftOut }
}

/**
 * Throws 404 for an unknown batch, 422 for one that is cancelled or in use: the bank has answered,
 * a payout of it was closed, so its file has a line too many, or the bank has a payout of it in an
 * earlier file, or a settlement matches its entries no more. 409 if its lines changed.
 */
async function readyBatch(deps: PayoutFileDeps, number: number, operator: string) {
  const batch = await findBatch(deps, number)
  if (batch.state === 'cancelled') {
    const hint = 'payout-file without --batch has its settlements, or says why it leaves them out.'
    throw refused(`batch ${number} is cancelled`, hint)
  }
  requireUnused(batch)
  if (batch.state === 'open') {
    if (batch.settlementIds === undefined) throw notFound('batch')
    return fillBatch(deps, batch, { operator })
  }
  const { settlements } = await requireReady(deps, batch)
  await mapInChunks(settlements, SIDE_BY_SIDE, (one) => requireMatchingBooks(deps, one))
  // The comparison may take minutes, in which a payout fails or the batch is cancelled.
  return { ...(await requireReady(deps, batch)), leftOut: [] }
}

async function requireReady(deps: PayoutFileDeps, batch: Batch) {
  const { number } = batch
  const settlements = await settlementsIn(deps, batch)
  const closed = settlements.filter(({ status }) => status !== 'recorded')
  const others = await mapInChunks(settlements, SIDE_BY_SIDE, (one) =>
    otherLiveBatch(deps, one, number),
  )
  const earlier = others.find(Boolean)
  const why =
    closed.length > 0
      ? `${closed.length} of its ${settlements.length} payouts are paid or failed`
      : earlier && `batch ${earlier.number}, whose file may be at the bank, has a payout of it too`
  if (why) throw inUse(number, why, cancelHint(number))
  return { settlements, ...(await withLines(deps, batch, settlements)) }
}

function requireUnused({ number, usedAt }: Batch) {
  if (usedAt !== undefined) throw inUse(number, 'the bank has answered to its file', ANSWER_HINT)
}

function inUse(number: number, why: string, next: string) {
  const hint = `Give its file to no bank again: it would pay twice. ${next}`
  return refused(`batch ${number} is in use: ${why}`, hint)
}

function toBatchDto({ number, state, settlementIds, totalMinor, digest, createdAt }: Batch) {
  return {
    number,
    state,
    count: settlementIds?.length ?? 0,
    total_minor: totalMinor ?? null,
    digest: digest ?? null,
    created_at: createdAt ?? null,
  }
}
