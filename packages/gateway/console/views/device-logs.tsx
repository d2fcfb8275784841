import { useSignal } from "@preact/signals";
import type { RenderableProps } from "preact";
import { useMemo } from "preact/hooks";
import type { DeviceDetail } from "../../src/console/fleet.js";
import type { CallEntry } from "../../src/console/messages.js";
import type { WebhookSummary } from "../../src/events/webhooks.js";
import { askEvents, CONSOLE_CLIENT } from "../store/device-link.js";
import { ask } from "../store/session.js";
import { clock, t, visible, visibleLine } from "../texts.js";
import { eventName, eventText } from "../words.js";
import { Button, CallText, Card, Form, LogEntry, LogList, Snippet, show, TextField, useLoaded } from "./basics.js";
import { Select } from "./inputs.js";

/** Characters of an event's data. */
const MAX_DATA = 1_000;

/** Caller, tool, duration and outcome of recent calls. Similar calls share a line. */
export function CallLog({ calls }: { readonly calls: readonly CallEntry[] }) {
	return (
		<Card title={t("callLog")}>
			<LogList empty={t("noCalls")}>
				{collapsed(calls).map(({ call, count }) => (
					<LogEntry key={call.number} time={clock(call.time)}>
						<CallText {...call} client={call.client === CONSOLE_CLIENT ? t("console") : call.client}>
							{count > 1 && `${count} ×`}
						</CallText>
					</LogEntry>
				))}
			</LogList>
		</Card>
	);
}

/** Merges consecutive calls that are alike into the newest of them, with their number. */
function collapsed(calls: readonly CallEntry[]) {
	const lines: { readonly call: CallEntry; count: number }[] = [];
	const keyOf = ({ tool, principal, outcome, args }: CallEntry): string => [tool, principal, outcome, args].join("\n");
	for (const call of calls) {
		const last = lines.at(-1);
		if (last !== undefined && keyOf(last.call) === keyOf(call)) {
			last.count += 1;
		} else {
			lines.push({ call, count: 1 });
		}
	}
	return lines;
}

/** The events of the device, as clients get them. */
export function EventList({ events, children }: RenderableProps<Pick<DeviceDetail, "events">>) {
	return (
		<Card title={t("events")}>
			<LogList>
				{events.map(({ eventId, name, time, data }) => (
					<LogEntry key={eventId} time={clock(time)}>
						<details>
							<summary>
								<span>
									{eventName(name)} <span class="text-light">{eventText(data)}</span>
								</span>
							</summary>
							<code>
								{visibleLine(name)} {visibleLine(JSON.stringify(data).slice(0, MAX_DATA))}
							</code>
						</details>
					</LogEntry>
				))}
			</LogList>
			{children}
		</Card>
	);
}

interface EventType {
	readonly name: string;
	readonly title?: string;
	readonly delivery: readonly string[];
}

const SECRET_BYTES = 32;

/** Form that subscribes a URL to events of a device, and shows how to try it. */
export function EventWebhook({ alias, isServer }: { readonly alias: string; readonly isServer: boolean }) {
	const webhook = useSignal<WebhookSummary | undefined>(undefined);
	const url = useSignal("");
	// The endpoint needs it before it is challenged. It is known only until the page is closed.
	const secret = useMemo(
		() => `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))))}`,
		[alias],
	);
	const { value: types = [], problem } = useLoaded(async () => {
		const { events } = await askEvents<{ events: readonly EventType[] }>("events/list");
		return events.filter(({ name }) => (isServer ? name.startsWith(`${alias}__`) : !name.includes("__")));
	}, [alias]);
	const subscribe = async (data: FormData): Promise<void> => {
		const name = String(data.get("type"));
		const args = isServer ? {} : { device: alias };
		const params = { name, arguments: args, delivery: { mode: "webhook", url: url.value, secret } };
		const { refreshBefore } = await askEvents<{ refreshBefore: string }>("events/subscribe", params);
		webhook.value = { name, arguments: args, url: url.value, until: Date.parse(refreshBefore) };
	};
	if (types.length === 0) {
		return problem === "" ? null : <p class="bad-text">{visible(problem)}</p>;
	}
	const mayPost = types.some(({ delivery }) => delivery.includes("webhook"));
	return (
		<details class="webhook">
			<summary>{t("postEvents")}</summary>
			{mayPost ? (
				<Form submit={{ text: t("subscribe") }} onSubmit={subscribe}>
					<label>
						{t("eventType")}
						<Select name="type" options={types.map(({ name, title = name }) => [name, visibleLine(title)])} />
					</label>
					<TextField
						label="URL"
						name="url"
						type="url"
						required
						maxLength={2_048}
						placeholder="https://example.com/hook"
						onInput={({ currentTarget }) => (url.value = currentTarget.value.trim())}
					/>
					<div>
						<p class="text-light">{t("webhookSecret")}</p>
						<Snippet text={secret} />
					</div>
				</Form>
			) : (
				<p class="text-light">{t("webhookNeedsToken")}</p>
			)}
			{mayPost && URL.canParse(url.value) && (
				<div>
					<p class="text-light">{t("challengeByHand")}</p>
					<Snippet text={challengeByCurl(url.value, secret)} />
				</div>
			)}
			{webhook.value && <Subscribed webhook={webhook.value} onEnd={() => (webhook.value = undefined)} />}
		</details>
	);
}

/** A subscription, with buttons to try and to end it. */
export function Subscribed({ webhook, onEnd }: { readonly webhook: WebhookSummary; readonly onEnd: () => void }) {
	const { name, arguments: args, url, until } = webhook;
	const test = async (): Promise<void> => {
		const subscription = { name, arguments: args, url };
		const { answer } = await ask<{ answer: string }>("console/webhooks/test", "POST", subscription);
		show(t("testAnswered", { answer }), !/^HTTP 2/.test(answer));
	};
	const end = async (): Promise<void> => {
		await askEvents("events/unsubscribe", { name, arguments: args, delivery: { url } });
		onEnd();
	};
	return (
		<div role="status">
			<p>{t("subscribedUntil", { event: name, time: clock(until) })}</p>
			<code>{visibleLine([url, ...Object.entries(args).map(([key, value]) => `${key}: ${value}`)].join(" · "))}</code>
			<p class="hstack">
				<Button onClick={test} text={t("sendTest")} />
				<Button onClick={end} text={t("unsubscribe")} />
			</p>
		</div>
	);
}

/** Shell commands that post a signed challenge (Standard Webhooks): the endpoint answers with `{"challenge":"hello"}`. */
function challengeByCurl(url: string, secret: string): string {
	return `ID=msg_1; TIME=$(date +%s); BODY='{"type":"verification","challenge":"hello"}'
KEY=$(printf %s '${secret.slice("whsec_".length)}' | base64 -d | od -An -tx1 | tr -d ' \\n')
SIGNATURE=$(printf %s "$ID.$TIME.$BODY" | openssl dgst -sha256 -mac HMAC -macopt hexkey:$KEY -binary | base64)
curl '${url.replaceAll("'", "%27")}' -H 'content-type: application/json' -H "webhook-id: $ID" \\
  -H "webhook-timestamp: $TIME" -H "webhook-signature: v1,$SIGNATURE" -d "$BODY"`;
}
