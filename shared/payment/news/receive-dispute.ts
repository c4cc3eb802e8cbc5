import {
  changedCase,
  type DisputeNews,
  disputeCase,
  isNewer,
  nextAlertAt,
  shownDispute,
} from '../../suspense/dispute.ts'
import { recordFinding, reportSuspense } from '../../suspense/record-suspense.ts'
import type { Suspense } from '../../suspense/suspense.ts'
import { changeCase, findSuspense, putSuspense } from '../../suspense/suspense-store.ts'
import { addMs, HOUR_MS, MINUTE_MS, type Timestamp } from '../../time.ts'
import { sendAnnouncement } from '../../webhook/delivery/announce.ts'
import { announcementOfDispute } from '../announcement.ts'
import { mayBeCredited, type Payment, type StoredPayment } from '../payment.ts'
import { findStoredPayment, isForeign } from '../payment-store.ts'
import { noteDispute } from '../shown-store.ts'
import { applyProviderNews, findNamedPayment, isSilent } from './apply-news.ts'
import type { NewsDeps } from './ask-for-news.ts'
import { isAboutCredit } from './succeed-payment.ts'

/** A second callback of the dispute, an erasure or an operator may refuse a try. */
const MAX_TRIES = 5

/**
 * Writes down what the provider says of a dispute (design section 14): the case, what its payment
 * shows, and the event, in one transaction; then tells operators. Moves no money. News that is not
 * newer than the case changes nothing. Without a payment of ours it is one finding a day. Throws
 * when the case kept changing.
 */
export async function receiveDispute(
  deps: NewsDeps,
  news: DisputeNews,
): Promise<'applied' | 'ignored' | 'ask_again'> {
  let isAnnounced = false
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const payment = await findDisputed(deps, news)
    if (payment === 'ask_again') {
      deps.log.warn('callback.deferred', { outcome: 'unanswered' })
      return payment
    }
    if (payment === undefined || isForeign(payment)) {
      const subject = `disputes of ${deps.now().slice(0, 10)}`
      await recordFinding(deps, { subject, cause: 'dispute_unknown', payment: undefined })
      return 'applied'
    }
    const stored = await findSuspense(deps, news.disputeId)
    if (stored && (stored.kind !== 'case' || !isNewer(news, stored))) {
      deps.log.info('callback.ignored', { suspense_id: stored.suspenseId })
      return 'ignored'
    }
    const planned = await planCase(deps, { news, stored, payment, isAnnounced })
    const outcome = await deps.table.transact<string>(planned.steps, planned.freshUntil)
    if (outcome.applied) {
      await planned.report()
      return 'applied'
    }
    // Each state has one event: the dispute was in this state before.
    if (outcome.refusedBy === 'event') isAnnounced = true
  }
  throw new Error('a dispute kept changing while its news was written')
}

/**
 * If its reference names no payment of ours, the provider says whose capture it is. A capture whose
 * callback is late or lost is applied first; one not shown now may never be. A refused question is
 * about an id of another product.
 */
async function findDisputed(deps: NewsDeps, news: DisputeNews) {
  const { providerPaymentId } = news
  let disputed = await findNamedPayment(deps, news)
  if (!disputed && providerPaymentId) {
    const answer = await deps.provider.getPayment(providerPaymentId)
    if (isSilent(answer)) return 'ask_again'
    if (answer.kind === 'found') disputed = await findNamedPayment(deps, answer.value)
  }
  if (!disputed || !mayBeCredited(disputed)) return disputed
  const paymentRequestId = disputed.status === 'pending' ? disputed.paymentRequestId : undefined
  const subject = { providerPaymentId, paymentRequestId }
  const outcome = await applyProviderNews(deps, subject, 'callback', disputed)
  if (isSilent(outcome) || outcome.kind === 'deferred') return 'ask_again'
  return findStoredPayment(deps, disputed.paymentId)
}

type Planned = {
  readonly news: DisputeNews
  readonly stored: Suspense | undefined
  readonly payment: StoredPayment
  readonly isAnnounced: boolean
}

async function planCase(deps: NewsDeps, { news, stored, payment, isAnnounced }: Planned) {
  const now = deps.now()
  const item = stored ? changedCase(stored, news) : disputeCase(news, payment, now)
  const steps = stored
    ? { suspense: changeCase(stored, item, disputeAlertAt(item, now)) }
    : putSuspense(item)
  // Merchants see disputes of what they were credited with.
  const providerPaymentId = item.providerPaymentId ?? news.providerPaymentId
  const credited = isAboutCredit(payment, { ...news, providerPaymentId }) ? payment : undefined
  const said = shownDispute(item)
  const announcement =
    credited && said && !isAnnounced
      ? await announcementOfDispute(deps, credited, said, now)
      : undefined
  const report = async () => {
    if (announcement) await sendAnnouncement(deps, announcement)
    // An answered dispute waits for its end.
    if (!stored || item.state !== 'under_review') await reportSuspense(deps, item)
  }
  return {
    steps: {
      ...steps,
      payment: credited && noteDispute(credited, shownAfter(credited, said)),
      ...announcement?.steps,
    },
    freshUntil: announcement?.freshUntil,
    report,
  }
}

/**
 * A little later than now, so that its writer publishes the alert before due work does. An answered
 * dispute has none, but the alert of a new one may wait still.
 */
function disputeAlertAt(item: Suspense, now: Timestamp) {
  const isYoung = item.status === 'open' && now < addMs(item.createdAt, HOUR_MS)
  if (item.state === 'under_review' && !isYoung) return nextAlertAt(item, now)
  return addMs(now, MINUTE_MS)
}

/** Of two disputes the payment shows the one to be answered, else the one that changed last. */
function shownAfter({ dispute: shown }: Payment, said: Payment['dispute']) {
  const isOther = shown !== undefined && shown.caseId !== said?.caseId
  const mustBeAnswered = isOther && shown.state === 'action_required'
  return mustBeAnswered && said?.state !== 'action_required' ? shown : said
}
