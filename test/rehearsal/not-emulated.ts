/** What MiniStack is not, or not as AWS is. What a run finds itself it adds to these. */
export const NOT_EMULATED: readonly string[] = [
  'mended: `Ref` of a secret is its name in MiniStack, and its ARN on AWS (judged_ministack.py)',
  'mended: the judge does not know dynamodb:LeadingKeys, dynamodb:ReturnValues, the attributes of writes and kms:EncryptionContext (judged_ministack.py)',
  'mended: a batch of messages is judged as sqs:SendMessageBatch, which is no permission on AWS: there it is sqs:SendMessage',
  'mended: functions that start at the same moment can fail with “dictionary changed size during iteration” (judged_ministack.py)',
  'mended: a deployment killed the runs under way (judged_ministack.py)',
  'what Lambda asks in a function’s name (reading queues, writing logs, sending what was given up) is not judged',
  'IAM takes a policy of a name that is taken: on AWS a stack in another region is refused until the lost one’s are deleted',
  'roles of a stack in another region get the names of the first one’s, so what is left in the lost region is refused from then on',
  'stage prod: CloudFront, WAF, ACM, CodeDeploy’s canaries, CloudTrail and alarms; the stage rehearsed is dev',
  'quotas, throttles and concurrency of Lambda, API Gateway and DynamoDB',
]
