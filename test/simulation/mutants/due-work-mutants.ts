import { mutantsOf } from '../mutation/mutant.ts'

const DUE = 'integration/payment/check-due-work'
const CANCEL = 'integration/payment/cancel-payment'
const EXPIRE = 'integration/payment/expire-payment'
const VISIBLE = 'integration/payment/payment-store-visible'

/** Our own checks, and what is noted of cancels and expiries. */
export const DUE_WORK_MUTANTS = [
  ...mutantsOf('shared/payment/payment-store.ts', [
    {
      name: 'a check is claimed whatever its due time',
      find: "all(present('work'), equals('dueAt', dueAt))",
      replace: "present('work')",
      tests: [DUE],
    },
    {
      name: 'a check is claimed of what is no due work',
      find: "all(present('work'), equals('dueAt', dueAt))",
      replace: "equals('dueAt', dueAt)",
      equivalent:
        'No write leaves due_at without work: both are set by dueWork() and removed by DUE_WORK_FIELDS together.',
      tests: [DUE, VISIBLE],
    },
    {
      name: 'a check is scheduled for a payment that is terminal',
      find: "all(isPending, equals('dueAt', claimedDueAt))",
      replace: "equals('dueAt', claimedDueAt)",
      tests: [VISIBLE],
    },
    {
      name: 'a scheduled check overwrites another reason to look',
      find: "all(isPending, equals('dueAt', claimedDueAt))",
      replace: 'isPending',
      tests: [DUE],
    },
    {
      name: 'the check of a payment being created ends although it is there',
      find: "all(isCreating, equals('dueAt', claimedDueAt))",
      replace: "equals('dueAt', claimedDueAt)",
      tests: [VISIBLE],
    },
    {
      name: 'the check of a payment being created ends although it became due again',
      find: "all(isCreating, equals('dueAt', claimedDueAt))",
      replace: 'isCreating',
      tests: [VISIBLE],
    },
    {
      name: 'a terminal payment becomes due',
      find: "update(paymentKey(paymentId), { set: dueWork('payment', paymentId, now) }, isPending)",
      replace: "update(paymentKey(paymentId), { set: dueWork('payment', paymentId, now) })",
      tests: [VISIBLE],
    },
    {
      name: 'a cancel is noted on a terminal payment',
      find: 'all(isPending, expiryNotStarted),\n',
      replace: 'expiryNotStarted,\n',
      tests: [CANCEL],
    },
    {
      name: 'a cancel is noted although the expiry has begun',
      find: 'all(isPending, expiryNotStarted),\n',
      replace: 'isPending,\n',
      tests: [VISIBLE],
    },
    {
      name: 'the last cancel asked for counts, and not the first',
      find: "{ setIfAbsent: { cancelRequestedAt: now }, set: dueWork('payment', paymentId, dueAt) }",
      replace: "{ set: { cancelRequestedAt: now, ...dueWork('payment', paymentId, dueAt) } }",
      tests: [VISIBLE],
    },
    {
      name: 'nobody looks at a payment whose cancel was lost',
      find: "{ setIfAbsent: { cancelRequestedAt: now }, set: dueWork('payment', paymentId, dueAt) }",
      replace: '{ setIfAbsent: { cancelRequestedAt: now } }',
      tests: [VISIBLE, EXPIRE],
    },
    {
      name: 'the expiry of a terminal payment begins',
      find: '{ setIfAbsent: { expiryStartedAt: now } }, isPending)',
      replace: '{ setIfAbsent: { expiryStartedAt: now } })',
      tests: [VISIBLE],
    },
    {
      name: 'the last beginning of an expiry counts, and not the first',
      find: '{ setIfAbsent: { expiryStartedAt: now } }',
      replace: '{ set: { expiryStartedAt: now } }',
      tests: [VISIBLE],
    },
  ]),
  ...mutantsOf('shared/payment/news/check-due-payment.ts', [
    {
      name: 'our own expiry is not enforced',
      find: "if (isPastItsTime(payment, deps.now())) return expirePayment(deps, payment, 'due_work')",
      replace: '',
      tests: [DUE],
    },
    {
      name: 'a payment whose money is not shown yet waits for its next regular check',
      find: "? 'not_shown' : 'checked'",
      replace: "? 'checked' : 'checked'",
      tests: ['integration/payment/callback-ahead-of-its-provider'],
    },
    {
      name: 'a payment nobody could be asked about waits for its next regular check',
      find: "if (result === 'checked') {\n    await scheduleCheck(",
      replace: 'if (result) {\n    await scheduleCheck(',
      tests: ['integration/payment/check-due-payment'],
    },
    {
      name: 'remembered captures are not asked about once the payment is there',
      find: '...(await askAboutRemembered(deps, payment)),',
      replace: '',
      tests: ['integration/payment/check-due-payment'],
    },
    {
      name: 'a remembered capture is dropped at the first look that does not find it',
      find: "outcome.kind === 'not_found' && isPatient",
      replace: "outcome.kind === 'not_found' && !isPatient",
      tests: ['integration/payment/callback-ahead-of-its-provider'],
    },
    {
      name: 'remembered captures are forgotten while nobody could be asked about them',
      find: "if (result === 'checked' && outcomes.every(({ kind }) => kind !== 'deferred')) {",
      replace: 'if (outcomes.length > 0) {',
      tests: ['integration/payment/check-due-payment'],
    },
    {
      name: 'a payment is checked without a claim',
      find: 'claimed.applied ? parseStored(claimed.item) : undefined',
      replace: 'parseStored(claimed.item)',
      tests: ['integration/payment/check-due-payment'],
    },
  ]),
  ...mutantsOf('shared/due-work/due-items.ts', [
    {
      name: 'due work is looked at before its time',
      find: 'range: { atMost: deps.now() },\n',
      replace: '',
      tests: ['integration/payment/due-work-run'],
      histories: true,
    },
  ]),
  ...mutantsOf('shared/due-work/check-due-work.ts', [
    {
      name: 'one kind of due work waits for another',
      find: 'const drained = await Promise.allSettled(PLANS.map((plan) => drain(deps, plan, run)))\n',
      replace:
        'const drained: PromiseSettledResult<void>[] = []\n  for (const plan of PLANS) drained.push(...(await Promise.allSettled([drain(deps, plan, run)])))\n',
      tests: ['integration/payment/due-work-run'],
    },
    {
      name: 'a kind of due work that breaks off goes unnoticed',
      find: "  for (const end of drained) if (end.status === 'rejected') throw end.reason\n",
      replace: '',
      tests: ['integration/payment/due-work-run'],
    },
    {
      name: "one item's trouble ends the run",
      find: "run.summary.failed++\n    return 'nothing'",
      replace: 'throw cause',
      tests: ['integration/payment/due-work-run'],
    },
    {
      name: 'the run does not wait while the provider wants to hear nothing',
      find: 'if (plan.asks && !(await waitForProvider(deps, plan.asks, run.end))) return false',
      replace: '',
      tests: ['integration/payment/due-work-run'],
    },
    {
      name: "the run goes on asking after the provider's 429",
      find: "if (results.includes('stop') && !isPausing(deps, plan.asks ?? [])) return false",
      replace: '',
      tests: ['integration/payment/due-work-run'],
    },
    {
      name: 'only the first slot of due work is looked at',
      find: 'offset < slots; offset++',
      replace: 'offset < 1; offset++',
      tests: ['integration/payment/due-work-run'],
      histories: true,
    },
    {
      name: 'only the first page of a slot is looked at',
      find: '    cursor = page.cursor\n',
      replace: '',
      tests: ['integration/payment/due-work-run'],
    },
  ]),
]
