import { describe, expect, it } from 'vitest'
import { readMonth } from '../../../infra/operate/fixtures/read-month.ts'
import { projectText } from '../../support/source-file.ts'

const HEAD = 'day,merchant,step,order,channel,amount'

function reading(...lines: readonly string[]) {
  return readMonth([HEAD, '1,Kopi,merchant,,,', ...lines].join('\n'))
}

describe('a file of fixtures', () => {
  it('is a step a line, with remarks, and each step knows its line', () => {
    const month = readMonth(
      [
        '# a month',
        HEAD,
        '1,Kopi,merchant,,,50000',
        '',
        '2,Kopi,payment,a 1,QRIS,15000',
        '9,Kopi,refund,a 1,,',
        '9,Kopi,payout,,,',
      ].join('\r\n'),
    )

    const kopi = { merchant: 'Kopi', order: '', channel: '', amount: undefined }
    expect(month).toStrictEqual({
      ok: true,
      steps: [
        { ...kopi, line: 3, day: 1, step: 'merchant', amount: 50_000 },
        {
          ...kopi,
          line: 5,
          day: 2,
          step: 'payment',
          order: 'a 1',
          channel: 'QRIS',
          amount: 15_000,
        },
        { ...kopi, line: 6, day: 9, step: 'refund', order: 'a 1' },
        { ...kopi, line: 7, day: 9, step: 'payout' },
      ],
    })
  })

  it('in the documents is right, and has every step that a month needs', () => {
    const month = readMonth(projectText('docs/examples/month.csv'))

    const steps = new Set(month.ok ? month.steps.map(({ step }) => step) : month.errors)
    expect([...steps]).toEqual(
      expect.arrayContaining(
        'merchant payment unpaid failed cancelled refund dispute dispute-won payout'.split(' '),
      ),
    )
  })

  it('that is wrong names every wrong line', () => {
    const month = reading('1,Kopi,paid,,,', '1,Kopi,payment,a,QRIS,15000', '1,Teh,payout,,,')

    expect(month).toStrictEqual({
      ok: false,
      errors: [
        'line 3: step is one of merchant, payment, unpaid, failed, cancelled, refund, dispute, ' +
          'dispute-won, dispute-lost, payout',
        'line 5: no line above makes the merchant Teh',
      ],
    })
  })

  it.for([
    ['0,Kopi,payout,,,', 'day is 1 to 366'],
    ['367,Kopi,payout,,,', 'day is 1 to 366'],
    ['1.5,Kopi,payout,,,', 'day is 1 to 366'],
    ['1,Kopi,merchant,,,', 'merchant Kopi is there already'],
    ['1,"Ko""pi",merchant,,,', 'merchant is 1 to 60 letters'],
    ['1,Kopi,payment,a,QRIS,', 'payment needs an amount'],
    ['1,Kopi,payment,a,QRIS,15.000', 'amount is a whole number'],
    ['1,Kopi,payment,a,QRIS,-1', 'amount is a whole number'],
    ['1,Kopi,payment,a,CASH,15000', 'channel is one of BCA,'],
    ['1,Kopi,payment,,QRIS,15000', 'order is 1 to 60 letters'],
    ['1,Kopi,payout,,,5', 'payout has no amount'],
    ['1,Kopi,payout,a,,', 'payout has no order'],
    ['1,Kopi,refund,a,,', 'no line above pays order a of Kopi'],
    ['1,Kopi,refund,a,QRIS,', 'refund has no channel'],
    ['1,Kopi,dispute-won,a,,', 'no open dispute of order a of Kopi'],
    ['1,Kopi,payout,,', '5 cells instead of 6'],
  ] as const)('is refused for %s', ([line, reason]) => {
    const month = reading(line)

    expect(month.ok ? [] : month.errors).toStrictEqual([
      expect.stringMatching(new RegExp(`^line 3: .*${reason}`)),
    ])
  })

  it.for([
    [['1,Kopi,payment,a,QRIS,1', '1,Kopi,payment,a,QRIS,1'], 'order a is there already'],
    [['1,Kopi,unpaid,a,QRIS,1', '1,Kopi,refund,a,,'], 'no line above pays order a of Kopi'],
    [['5,Kopi,payout,,,', '4,Kopi,payout,,,'], 'day 4 is before day 5'],
  ] as const)('is judged with the lines above: %j', ([lines, reason]) => {
    const month = reading(...lines)

    expect(month.ok ? [] : month.errors).toStrictEqual([
      expect.stringContaining(`line 4: ${reason}`),
    ])
  })

  it.for([
    ['', 'line 1: the columns are'],
    ['day,step\n', 'line 1: the columns are'],
    [`${HEAD}\n`, 'line 1: no step follows'],
    ['"', 'line 1: no CSV'],
    [`${HEAD}\n${'1,Kopi,payout,,,\n'.repeat(10_001)}`, 'more than 10000 steps'],
  ] as const)('without steps, or with too many, is refused: %#', ([text, reason]) => {
    const month = readMonth(text)

    expect(month.ok ? '' : month.errors.join()).toContain(reason)
  })
})
