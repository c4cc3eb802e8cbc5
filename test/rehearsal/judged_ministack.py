"""
Starts MiniStack with its own judge of IAM policies on (AUTH=true), and tells that judge what it does not know of a
request: of a DynamoDB request its leading keys, attributes and returned values, and of a KMS request
its encryption context. Every verdict goes
into the file REHEARSAL_VERDICTS, one line of JSON each. Also mends where MiniStack is not as AWS is and the stack
could not be deployed: what is corrected is listed in judgement.ts.
"""

import contextvars
import json
import os
import re
import sys
import threading
import time

from ministack.core import iam_actions, iam_evaluator, lambda_runtime
from ministack.services import cloudtrail, cloudwatch, lambda_svc, secretsmanager, sts
from ministack.services.cloudformation import drift, provisioners

LEADING_KEYS = "dynamodb:LeadingKeys"
ATTRIBUTES = "dynamodb:Attributes"
RETURN_VALUES = "dynamodb:ReturnValues"
SELECT = "dynamodb:Select"
ENCRYPTION_CONTEXT = "kms:EncryptionContext"
EXPRESSIONS = ("ProjectionExpression", "UpdateExpression", "ConditionExpression", "FilterExpression")


def leading_keys(operation):
    """The partition keys that a single operation names; a Scan names none."""
    if "RequestItems" in operation:
        keys = [key for part in operation["RequestItems"].values() for key in part.get("Keys", [])]
    elif "KeyConditionExpression" in operation:
        names, values = operation.get("ExpressionAttributeNames") or {}, operation.get("ExpressionAttributeValues") or {}
        equal = re.findall(r"(#?\w+)\s*=\s*(:\w+)", operation["KeyConditionExpression"])
        keys = [{names.get(name, name): values[value]} for name, value in equal]
        if operation.get("IndexName"):
            # An index has other keys, of any type.
            return [str(text) for key in keys for value in key.values() for text in value.values()]
    else:
        keys = [operation.get("Key") or operation.get("Item") or {}]
    return [key["pk"]["S"] for key in keys if "pk" in key]


def attributes(operation):
    """The top-level attributes that its expressions name; the adapter names each by a placeholder."""
    if "RequestItems" in operation:
        parts = operation["RequestItems"].values()
        return [name for part in parts for name in attributes({**part, "Key": part.get("Keys", [{}])[0]})]
    names = operation.get("ExpressionAttributeNames") or {}
    used = [word for field in EXPRESSIONS for word in re.findall(r"#\w+", operation.get(field) or "")]
    return [names.get(word, word) for word in used] + (list(operation.get("Key") or {}) if used else [])


def selection(operation):
    """MiniStack does not look into a batch, and judges it as a request for all attributes."""
    parts = operation.get("RequestItems", {}).values()
    if not parts:
        return None
    return "SPECIFIC_ATTRIBUTES" if all("ProjectionExpression" in part for part in parts) else "ALL_ATTRIBUTES"


def request_context(operation):
    said = {
        LEADING_KEYS: leading_keys(operation),
        ATTRIBUTES: attributes(operation),
        RETURN_VALUES: operation.get("ReturnValues", "NONE"),
        SELECT: selection(operation),
    }
    return {key: value for key, value in said.items() if value}


steps_left = contextvars.ContextVar("steps_left")
plain_context = iam_actions.dynamodb_service_context
plain_checks = iam_actions.dynamodb_transaction_checks
plain_tags = iam_actions.request_tag_context
plain_enforce = iam_evaluator.enforce


def context_with_keys(body):
    return {**plain_context(body), **request_context(json.loads(body or b"{}"))}


def tags_with_seal(service, action, body, params):
    said = plain_tags(service, action, body, params)
    if service != "kms":
        return said
    seal = json.loads(body or b"{}").get("EncryptionContext") or {}
    named = {f"{ENCRYPTION_CONTEXT}:{name}": value for name, value in seal.items()}
    return {**said, **named, **({f"{ENCRYPTION_CONTEXT}Keys": list(seal)} if seal else {})}


def checks_with_steps(action, body, region, account):
    checks = plain_checks(action, body, region, account)
    if checks:
        steps = [step for item in json.loads(body)["TransactItems"] for step in item.values()]
        assert len(steps) == len(checks), "a step of a transaction would be judged by another one's keys"
        steps_left.set(iter(steps))
    return checks


verdicts = open(os.environ["REHEARSAL_VERDICTS"], "a", buffering=1)


# On AWS a batch of messages needs the permission of a single message; MiniStack asks for another permission.
BATCHES = {f"sqs:{action}Batch": f"sqs:{action}" for action in ("SendMessage", "DeleteMessage", "ChangeMessageVisibility")}


def told_enforce(key_id, action, service, region, resource_arn="*", service_context=None):
    action = BATCHES.get(action, action)
    context = dict(service_context or {})
    if "dynamodb:EnclosingOperation" in context:
        # Each step of a transaction is judged as a single operation.
        for key in (LEADING_KEYS, ATTRIBUTES, RETURN_VALUES):
            context.pop(key, None)
        context.update(request_context(next(steps_left.get())))
    verdict = plain_enforce(key_id, action, service, region, resource_arn=resource_arn, service_context=context)
    said = {
        "principal": iam_evaluator.caller_arn() or "",
        "action": action,
        "resource": resource_arn,
        # Only the kind of an item is written, never its ids.
        "kinds": sorted({key.partition("#")[0] for key in context.get(LEADING_KEYS, [])}),
        "denied": None if verdict is None else str(getattr(verdict, "reason", None) or getattr(verdict, "code", verdict)),
    }
    verdicts.write(json.dumps(said) + "\n")
    return verdict


iam_actions.dynamodb_service_context = context_with_keys
iam_actions.dynamodb_transaction_checks = checks_with_steps
iam_actions.request_tag_context = tags_with_seal
iam_evaluator.enforce = told_enforce


plain_register = sts.register_session
registering = threading.Lock()


def register_alone(*given):
    """Functions that start at the same moment change the sessions while they are listed, and one of them fails."""
    with registering:
        plain_register(*given)


sts.register_session = register_alone

plain_kill = lambda_runtime.kill_workers
LONGEST_RUN_SECONDS = 60


def kill_when_idle(workers):
    deadline = time.monotonic() + LONGEST_RUN_SECONDS
    while any(worker.in_use for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    plain_kill(workers)


def kill_after_use(workers):
    """A deployment ends no run on AWS: MiniStack kills it, and its caller is answered 502."""
    known = [worker for worker in workers if worker is not None]
    busy = [worker for worker in known if worker.in_use]
    plain_kill([worker for worker in known if not worker.in_use])
    if busy:
        threading.Thread(target=kill_when_idle, args=(busy,), daemon=True).start()


lambda_runtime.kill_workers = kill_after_use

SECRET = "AWS::SecretsManager::Secret"


def name_of(physical_id):
    return secretsmanager._resolve(physical_id)[0] or physical_id


def by_arn(made):
    """`Ref` of a secret is its ARN on AWS, and its name in MiniStack: policies would name a secret that does not exist."""
    create, update, delete = made["create"], made["update"], made["delete"]

    def create_by_arn(*given):
        _, answers = create(*given)
        return answers["Arn"], answers

    made["create"] = create_by_arn
    made["update"] = lambda physical_id, *given, **more: update(name_of(physical_id), *given, **more)
    made["delete"] = lambda physical_id, *given: delete(name_of(physical_id), *given)


by_arn(provisioners._RESOURCE_HANDLERS[SECRET])
read_secret, compared = drift._DRIFT_READERS[SECRET]
drift._DRIFT_READERS[SECRET] = (lambda physical_id, *given: read_secret(name_of(physical_id), *given), compared)


plain_record = lambda_svc._effective_func_record_for_qualifier


def record_by_alias(func, qualifier):
    """A function that is invoked by an alias is told so on AWS. MiniStack names the alias's version."""
    record, config = plain_record(func, qualifier)
    if not record or qualifier not in func.get("aliases", {}):
        return record, config
    config = {**config, "FunctionArn": f"{func['config']['FunctionArn']}:{qualifier}"}
    return {**record, "config": config}, config


lambda_svc._effective_func_record_for_qualifier = record_by_alias

FUNCTION = provisioners._RESOURCE_HANDLERS["AWS::Lambda::Function"]
create_function, update_function = FUNCTION["create"], FUNCTION["update"]


def reserve(made, props):
    """MiniStack's CloudFormation leaves the reserved runs out."""
    reserved = props.get("ReservedConcurrentExecutions")
    lambda_svc._functions[made[0]]["concurrency"] = None if reserved is None else int(reserved)
    return made


FUNCTION["create"] = lambda logical_id, props, *given: reserve(create_function(logical_id, props, *given), props)
FUNCTION["update"] = lambda physical_id, before, props, *given, **more: reserve(
    update_function(physical_id, before, props, *given, **more), props
)

plain_alarm = provisioners._cw_metric_alarm_record


def alarm_with_formula(name, props):
    """MiniStack refuses an alarm on a formula. Here it is made, and never evaluated."""
    if not props.get("Metrics"):
        return plain_alarm(name, props)
    alarm = plain_alarm(name, {**props, "Metrics": None, "MetricName": "formula", "Namespace": "formula"})
    return {**alarm, "MetricName": None, "Namespace": None, "Metrics": props["Metrics"]}


provisioners._cw_metric_alarm_record = alarm_with_formula


def answered(answer):
    status, _, body = answer
    if status >= 400:
        raise ValueError(body if isinstance(body, str) else body.decode())


def put_page(logical_id, props, stack_name):
    answered(cloudwatch._put_composite_alarm({}, props, False, is_json=True))
    name = props["AlarmName"]
    return name, {"Arn": cloudwatch._composite_alarms[name]["AlarmArn"]}


def put_trail(logical_id, props, stack_name):
    name = props["TrailName"]
    if name not in cloudtrail._trails:
        answered(cloudtrail._create_trail({**props, "Name": name}))
    answered(cloudtrail._put_event_selectors({"TrailName": name, "EventSelectors": props["EventSelectors"]}))
    answered(cloudtrail._start_logging({"Name": name}))
    return name, {"Arn": cloudtrail._trail_arn(name)}


# MiniStack has both, but its CloudFormation does not make them.
provisioners._RESOURCE_HANDLERS["AWS::CloudWatch::CompositeAlarm"] = {
    "create": put_page,
    "update": lambda physical_id, before, props, stack_name: put_page(physical_id, props, stack_name),
    "delete": lambda physical_id, props: answered(
        cloudwatch._delete_alarms({}, {"AlarmNames": [physical_id]}, False, is_json=True)
    ),
}
provisioners._RESOURCE_HANDLERS["AWS::CloudTrail::Trail"] = {
    "create": put_trail,
    "update": lambda physical_id, before, props, stack_name: put_trail(physical_id, props, stack_name),
    "delete": lambda physical_id, props: answered(cloudtrail._delete_trail({"Name": physical_id})),
}

from ministack.app import main

sys.argv = ["ministack"]
main()
