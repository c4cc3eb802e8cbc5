import { describe, expect, it } from 'vitest'
import { stackFinding } from '../../infra/operate/check/stack-status.ts'

const found = (StackStatus: string, StackId?: string) =>
  stackFinding('stack', { StackName: 'gateway-prod-front', StackStatus: StackStatus as 'CREATE_COMPLETE', StackId })

const IN_VIRGINIA = 'arn:aws:cloudformation:us-east-1:111122223333:stack/gateway-prod-front/1'

describe('stackFinding', () => {
  it.each(['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE', 'IMPORT_COMPLETE'])(
    'takes %s',
    (status) => {
      expect(found(status)).toMatchObject({ state: 'ok' })
    },
  )

  it('waits for a deployment that is under way', () => {
    expect(found('UPDATE_IN_PROGRESS')).toMatchObject({ state: 'unclear' })
  })

  it.each(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'UPDATE_ROLLBACK_FAILED', 'UPDATE_FAILED', 'CREATE_FAILED'])(
    'says of %s what to do, on this very stack and in its region',
    (status) => {
      const { state, todo = '' } = found(status, IN_VIRGINIA)
      const commands = todo.match(/aws cloudformation [^&]+/g) ?? []

      expect(state).toBe('wrong')
      expect(commands).not.toStrictEqual([])
      for (const command of commands) expect(command).toContain('--stack-name gateway-prod-front --region us-east-1')
    },
  )

  it('names no region that it does not know', () => {
    expect(found('ROLLBACK_COMPLETE').todo).not.toContain('--region')
  })
})
