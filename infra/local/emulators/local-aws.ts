export const LOCAL_REGION = 'ap-southeast-3'

/**
 * The endpoint of DynamoDB Local has its access key as a user name (`http://KEY@127.0.0.1:1234`);
 * other emulators take any key.
 */
export function localAws(endpoint: string) {
  const url = new URL(endpoint)
  const accessKeyId = url.username || 'local'
  url.username = ''
  return {
    endpoint: url.origin,
    region: LOCAL_REGION,
    credentials: { accessKeyId, secretAccessKey: 'local' },
  }
}

/**
 * The duty of the caller: on AWS, the caller's policies. Without it, every function may be invoked.
 */
export const DUTY_HEADER = 'x-local-duty'
