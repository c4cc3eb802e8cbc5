import { marshall } from '@aws-sdk/util-dynamodb'
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda'
import * as v from 'valibot'
import { itemSize } from './stored-item.ts'
import type { TableChange } from './table-view.ts'

/** The record that Lambda gets of a change, from a stream of new images. */
export const streamRecord = ({ sequence, key, after, eventName }: TableChange): DynamoDBRecord => ({
  eventID: `change-${sequence}`,
  eventName,
  eventVersion: '1.1',
  eventSource: 'aws:dynamodb',
  awsRegion: 'ap-southeast-3',
  eventSourceARN: 'arn:aws:dynamodb:ap-southeast-3:000000000000:table/gateway/stream/2026-11-01T00:00:00.000',
  dynamodb: {
    Keys: imageOf(key),
    ...(after && { NewImage: imageOf(after) }),
    SequenceNumber: String(sequence).padStart(21, '0'),
    SizeBytes: itemSize(key) + (after ? itemSize(after) : 0),
    StreamViewType: 'NEW_IMAGE',
  },
})

type Image = NonNullable<NonNullable<DynamoDBRecord['dynamodb']>['NewImage']>

// The SDK and Lambda name one wire format differently; the table holds no binary values, the only real difference.
const ImageSchema = v.custom<Image>((image) => typeof image === 'object')
const imageOf = (item: object): Image => v.parse(ImageSchema, marshall(item))

export const streamEvent = (changes: readonly TableChange[]): DynamoDBStreamEvent => ({
  Records: changes.map(streamRecord),
})

/** The filter of the gateway's event source: inserts whose sort key has the prefix. */
export const isInsertOf = ({ eventName, key }: TableChange, skPrefix: string): boolean =>
  eventName === 'INSERT' && key.sk.startsWith(skPrefix)
