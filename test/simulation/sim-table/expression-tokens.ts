import { OutsideModel } from './outside-model.ts'
import { validationError } from './table-errors.ts'

/** Reads one expression from left to right. */
export type Tokens = {
  readonly peek: () => string | undefined
  readonly next: () => string
  /** Takes the token when it is the one given; words in any case, as DynamoDB does. */
  readonly take: (token: string) => boolean
  readonly expect: (token: string) => void
  /** An attribute's name, which is a placeholder: the stores write no other. */
  readonly name: () => string
  readonly value: () => string
  readonly end: () => void
}

const TOKEN = /\s*([#:]\w+|\w+|<>|<=|>=|[=<>(),])/y

const split = (expression: string): readonly string[] => {
  const found: string[] = []
  TOKEN.lastIndex = 0
  const text = expression.trimEnd()
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex
    const [, token] = TOKEN.exec(text) ?? []
    if (token === undefined) throw new OutsideModel(`the model cannot read "${text.slice(at)}" of an expression`)
    found.push(token)
  }
  return found
}

export const tokensOf = (expression: string): Tokens => {
  const tokens = split(expression)
  let at = 0
  const peek = () => tokens[at]
  const next = () => {
    const token = tokens[at++]
    if (token === undefined) throw validationError('Invalid expression: Syntax error; token: <EOF>')
    return token
  }
  const take = (token: string) => {
    if (peek()?.toUpperCase() !== token.toUpperCase()) return false
    at++
    return true
  }
  const placeholder = (sign: string) => {
    const token = next()
    if (!token.startsWith(sign)) throw new OutsideModel(`the model expects a placeholder with ${sign}, not "${token}"`)
    return token
  }
  return {
    peek,
    next,
    take,
    expect: (token) => {
      if (!take(token)) throw validationError(`Invalid expression: Syntax error; token: "${peek() ?? '<EOF>'}"`)
    },
    name: () => placeholder('#'),
    value: () => placeholder(':'),
    end: () => {
      if (peek() !== undefined) throw validationError(`Invalid expression: Syntax error; token: "${peek() ?? ''}"`)
    },
  }
}
