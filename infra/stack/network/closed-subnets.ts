import * as ec2 from 'aws-cdk-lib/aws-ec2'
import type { Construct } from 'constructs'

/** Ranges that are not on the internet. Loopback and documentation need no rule, because no route leads there. */
const NOT_PUBLIC = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10']

/** Where a network's resolver also answers. */
const LINK_LOCAL_RESOLVER = '169.254.169.253/32'

const EPHEMERAL = [1024, 65_535] as const

/**
 * An access list that lets subnets speak HTTPS to public addresses and to their resolver, and to nothing inside, even
 * if a URL passed the checks. A list is stateless, so answers need their own rule.
 */
export const closedSubnets = (
  scope: Construct,
  { vpc, subnets, range }: { readonly vpc: ec2.IVpc; readonly subnets: ec2.SubnetSelection; readonly range: string },
): ec2.NetworkAcl => {
  const list = new ec2.NetworkAcl(scope, 'AccessList', { vpc, subnetSelection: subnets })
  const rule = (id: string, options: Omit<ec2.CommonNetworkAclEntryOptions, 'cidr'> & { readonly range: string }) =>
    list.addEntry(id, { ...options, cidr: ec2.AclCidr.ipv4(options.range) })
  const { EGRESS, INGRESS } = ec2.TrafficDirection

  for (const [at, resolver] of [range, LINK_LOCAL_RESOLVER].entries()) {
    const number = 10 + at * 10
    const names = { range: resolver, ruleAction: ec2.Action.ALLOW }
    const udpAnswers = ec2.AclTraffic.udpPortRange(...EPHEMERAL)
    const tcpAnswers = ec2.AclTraffic.tcpPortRange(...EPHEMERAL)
    rule(`AskUdp${at}`, { ...names, ruleNumber: number, traffic: ec2.AclTraffic.udpPort(53), direction: EGRESS })
    rule(`AskTcp${at}`, { ...names, ruleNumber: number + 1, traffic: ec2.AclTraffic.tcpPort(53), direction: EGRESS })
    rule(`ToldUdp${at}`, { ...names, ruleNumber: number, traffic: udpAnswers, direction: INGRESS })
    rule(`ToldTcp${at}`, { ...names, ruleNumber: number + 1, traffic: tcpAnswers, direction: INGRESS })
  }
  for (const [at, inside] of NOT_PUBLIC.entries()) {
    const closed = {
      range: inside,
      ruleNumber: 100 + at,
      traffic: ec2.AclTraffic.allTraffic(),
      ruleAction: ec2.Action.DENY,
    }
    rule(`NotTo${at}`, { ...closed, direction: EGRESS })
    rule(`NotFrom${at}`, { ...closed, direction: INGRESS })
  }
  const open = { range: '0.0.0.0/0', ruleNumber: 200, ruleAction: ec2.Action.ALLOW }
  rule('Https', { ...open, traffic: ec2.AclTraffic.tcpPort(443), direction: EGRESS })
  rule('Answers', { ...open, traffic: ec2.AclTraffic.tcpPortRange(...EPHEMERAL), direction: INGRESS })
  return list
}
