/** An error as the AWS SDK throws it, with a message that quotes what no tool may show. */
export const awsRefusal = (name: string, message = 'the-secret-in-a-message'): Error =>
  Object.assign(new Error(message), { name })
