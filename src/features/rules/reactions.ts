import type { Application } from "../../core/application.js";
import { AppPart, type Listener } from "../../core/listener.js";
import type { Hardware } from "../../hardware/hardware.js";
import { mainButtonOf, type Press } from "../../hardware/kinds/button.js";
import { PART_KINDS } from "../../hardware/kinds/index.js";
import type { Reading, Sensor } from "../../hardware/kinds/sensor.js";
import { SET_CLOCK } from "../../hardware/reminders.js";
import type { Rule, RuleState, RuleTrigger } from "../../hardware/rules.js";
import { McpSession } from "../../mcp_server/mcp-session.js";
import { cancelCalls, ToolCall } from "../../mcp_server/tool-call.js";
import { findPart } from "../../tools/define-tool.js";
import { type LocalTime, localTime, type TimeZone } from "./time-zone.js";

/**
 * Something that the device does by itself: a maker's handler, or a rule of a client. Some fields are only declared: most
 * have no value, and each would take a slot of the chip's heap.
 */
export abstract class Reaction {
	readonly name: string;
	/** An event with the values that it must have; a limit of a sensor, a time, or an interval without an event. */
	readonly when: RuleTrigger;
	declare readonly unless: RuleState | undefined;
	declare readonly cooldown: number | undefined;
	on = true;
	/** The call of the current run; undefined between runs. */
	declare call: ToolCall | undefined;
	/** Time of the last run, in ticks of the application; undefined before the first. */
	declare ranAt: number | undefined;
	runs = 0;
	/** Runs in the current minute that were triggered by events that tools can cause. */
	recent = 0;
	/** Number of runs that led to the latest one, each triggered by an event of the previous. Undefined: none. */
	declare chain: number | undefined;
	/** Why the latest run has failed. */
	declare error: string | undefined;

	constructor({ name, when, unless, cooldown }: Omit<Rule, "do">) {
		this.name = name;
		this.when = when;
		if (unless !== undefined) {
			this.unless = unless;
		}
		if (cooldown !== undefined) {
			this.cooldown = cooldown;
		}
	}

	/** Does its work, possibly asynchronously. */
	abstract act(hardware: Hardware, event: object, call: ToolCall): unknown;

	/** Called each minute. */
	onMinute(_app: Application): void {
		this.recent = 0;
	}

	/** Logs the latest run, if it has failed. */
	onRan(app: Application): void {
		if (this.error !== undefined) {
			app.log(`${this.name}: ${this.error}`);
		}
	}
}

/** Seconds between two runs while a value is beyond its limit. */
const LIMIT_COOLDOWN = 60;

/** Seconds in which a time of day does not trigger again, as it would when summer time ends. */
const DAY_COOLDOWN = 7_200;

/** Milliseconds that a run may take. */
const MAX_TIME = 60_000;

/** Maximum number of runs by events that tools can cause, in a minute or a chain. More are a loop, which is paused. */
const MAX_CAUSED = 30;

/** Events that tools can cause: those of parts that they set. */
const canLoop = (event: string | undefined): boolean =>
	event !== undefined && PART_KINDS.some((kind) => kind.event?.name === event && (kind.tool?.sets?.length ?? 0) > 0);

const TICK = 1_000;

/** Minutes by which a time of day may be late. */
const MAX_LATE = 10;

/** Milliseconds that a tick may come early. */
const EARLY = 500;

export const PRESS = "button.pressed";
const SECONDS_A_MINUTE = 60;
const MINUTE = 60_000;
const NOTIFICATIONS = "notifications/";

/** Runs reactions at their time, when a value is beyond their limit, and on their event. */
export class Reactions extends AppPart implements Listener {
	/** The time zone of the setting; undefined: the machine's own. */
	private readonly zone: TimeZone | undefined;
	private all: readonly Reaction[] = [];
	private seconds = 0;
	/** Lengths of the chains of runs that switched a part, by event and part: a limit may switch the part off later. */
	private chains: Record<string, number> = {};
	/** Minutes since 1970 at the last tick. */
	private minute = 0;
	/** Session for calls of tools. No client gets their answers. */
	private session: McpSession<Hardware> | undefined;

	constructor(app: Application, zone: TimeZone | undefined) {
		super(app);
		this.zone = zone;
	}

	/** The local time; undefined while the clock is not set. */
	get now(): LocalTime | undefined {
		return this.timeAt(this.app.now());
	}

	/** Name of a reaction that needs the device awake. A press wakes it, and tools are only called while it is awake. */
	get awake(): string | undefined {
		return this.all.find(({ when, on }) => on && when.event !== PRESS && !canLoop(when.event))?.name;
	}

	add(reaction: Reaction): void {
		if (reaction.when.every !== undefined) {
			reaction.ranAt = this.app.ticks();
		}
		this.all = [...this.all, reaction];
	}

	/** Removes a reaction, and cancels its run. */
	remove(reaction: Reaction): void {
		const { call } = reaction;
		this.all = this.all.filter((each) => each !== reaction);
		reaction.call = undefined;
		if (call !== undefined) {
			cancelCalls([call], this.app.log);
		}
	}

	onStart(): void {
		const { app } = this;
		// Events of tools go to every session.
		const send = (text: unknown): void => {
			for (const session of app.server.sessions) {
				session.notify(text as string);
			}
		};
		this.session = new McpSession(app.server, { send });
		this.minute = this.thisMinute;
		app.timer.repeat(() => this.tick(), TICK);
	}

	/** @returns whether the press triggers a reaction, and not its usual action */
	onPress(button: string, { long }: Press): boolean {
		return (
			!startsSetup(this.app.board, button, long) &&
			this.all.some(({ when, on }) => on && isEvent(when, PRESS, { button, long }))
		);
	}

	onNotification(method: string, params: object): void {
		const event = method.slice(NOTIFICATIONS.length).replace("_", ".");
		const values = params as Readonly<Record<string, unknown>>;
		const chain = canLoop(event) ? this.chainOf(event, values) : 0;
		for (const reaction of this.all) {
			if (isEvent(reaction.when, event, values)) {
				this.trigger(reaction, params, chain);
			}
		}
	}

	/** Returns how many runs led to an event. If no call caused it, it continues the chain that switched the part. */
	private chainOf(event: string, values: Readonly<Record<string, unknown>>): number {
		const key = `${event} ${values[event.split(".")[0] as string]}`;
		const running = this.all.filter(({ call }) => call !== undefined).map(({ chain = 0 }) => chain + 1);
		const former = values.cause === "call" ? 0 : (this.chains[key] ?? 0);
		const chain = Math.max(former, ...running);
		this.chains[key] = chain;
		return chain;
	}

	private get thisMinute(): number {
		return Math.floor(this.app.now() / MINUTE);
	}

	/** Returns the local time of a time since 1970; undefined if the clock was not set then. */
	private timeAt(now: number): LocalTime | undefined {
		return now < SET_CLOCK ? undefined : localTime(now, this.zone);
	}

	/** Returns the local times of the minutes since the last tick, which may have come late. */
	private nextTimes(): readonly LocalTime[] {
		const { minute, thisMinute } = this;
		this.minute = thisMinute;
		const isNewClock = minute * MINUTE < SET_CLOCK || thisMinute < minute;
		const first = isNewClock ? thisMinute : Math.max(minute, thisMinute - MAX_LATE) + 1;
		const times: LocalTime[] = [];
		for (let each = first; each <= thisMinute; each += 1) {
			const time = this.timeAt(each * MINUTE);
			if (time !== undefined) {
				times.push(time);
			}
		}
		return times;
	}

	private tick(): void {
		this.seconds += 1;
		const times = this.nextTimes();
		for (const reaction of this.all) {
			if (this.seconds % SECONDS_A_MINUTE === 0) {
				reaction.onMinute(this.app);
			}
			const event = this.due(reaction, times);
			if (event !== undefined) {
				this.trigger(reaction, event);
			}
		}
	}

	/**
	 * @param times local times of the minutes that have begun
	 * @returns the event for its handler; undefined if it is not due
	 */
	private due(reaction: Reaction, times: readonly LocalTime[]): object | undefined {
		const { when, ranAt } = reaction;
		const { event, every, at, days } = when;
		if (event !== undefined) {
			return undefined;
		}
		if (every !== undefined) {
			return this.since(ranAt) > every * 1_000 - EARLY ? {} : undefined;
		}
		if (at !== undefined) {
			return times.some(({ time, day }) => time === at && days?.includes(day) !== false) ? {} : undefined;
		}
		const value = readValue(when, this.app.board);
		if (typeof value !== "number" && reaction.error === undefined) {
			this.isMisfit(reaction, "", when);
		}
		return typeof value === "number" && isSo(value, when) ? { value } : undefined;
	}

	/** Returns whether a state compares a value that its sensor never has. Logs it once. */
	private isMisfit(reaction: Reaction, path: string, state: RuleState): boolean {
		const { app } = this;
		try {
			expectValue(path, state, app.board);
			return false;
		} catch (error) {
			const { message } = error as Error;
			if (reaction.error !== message) {
				reaction.error = message;
				app.log(`${reaction.name}: ${message}`);
			}
			return true;
		}
	}

	private since(ticks: number | undefined): number {
		return ticks === undefined ? Number.POSITIVE_INFINITY : (this.app.ticks() - ticks) >>> 0;
	}

	/**
	 * Runs a reaction in a separate turn, so that reactions that trigger each other do not fill the stack.
	 *
	 * @param chain number of runs that led to the event
	 */
	private trigger(reaction: Reaction, event: object, chain = 0): void {
		const { unless, on, call, ranAt } = reaction;
		const { session } = this;
		const isResting = this.since(ranAt) > cooldownOf(reaction) * 1_000 - EARLY;
		if (session === undefined || call !== undefined || !on || !isResting) {
			return;
		}
		if (unless === undefined || !(this.isMisfit(reaction, "unless.", unless) || this.isBlocked(unless))) {
			if (chain !== (reaction.chain ?? 0)) {
				reaction.chain = chain;
			}
			reaction.call = new ToolCall(0, session, undefined);
			this.app.timer.set(() => this.run(reaction, event), 0);
		}
	}

	private run(reaction: Reaction, event: object): void {
		const { app } = this;
		const { call } = reaction;
		if (call === undefined) {
			return;
		}
		reaction.ranAt = app.ticks();
		reaction.recent += canLoop(reaction.when.event) ? 1 : 0;
		const isChain = (reaction.chain ?? 0) >= MAX_CAUSED;
		if (isChain || reaction.recent > MAX_CAUSED) {
			reaction.on = false;
			// The others continue, unless they are a loop without this one, too.
			this.chains = {};
			for (const each of this.all) {
				each.chain = undefined;
			}
			const loop = isChain ? "rules start each other" : "its own event starts it again";
			this.end(reaction, new Error(`paused: ${loop}, ${MAX_CAUSED} times in a ${isChain ? "row" : "minute"}`));
			return;
		}
		const limit = app.timer.set(() => {
			if (reaction.call === call) {
				this.end(reaction, new Error(`stopped after ${MAX_TIME / 1_000} seconds`));
				cancelCalls([call], app.log);
			}
		}, MAX_TIME);
		const end = (error?: unknown): void => {
			app.timer.clear(limit);
			if (reaction.call === call) {
				call.end();
				this.end(reaction, error);
			}
		};
		(async () => await reaction.act(app.board, event, call))().then(() => end(), end);
	}

	/** @param error undefined: the run has succeeded */
	private end(reaction: Reaction, error: unknown): void {
		reaction.call = undefined;
		reaction.runs += 1;
		reaction.error = error === undefined ? undefined : error instanceof Error ? error.message : String(error);
		reaction.onRan(this.app);
	}

	/** Whether `unless` holds. A sensor without a value blocks; a clock that is not set does not. */
	private isBlocked(state: RuleState): boolean {
		const { after, before, sensor, on = true } = state;
		const { board } = this.app;
		const value = readValue(state, board);
		const isTime = (after ?? before) === undefined || isBetween(this.now?.time, after, before);
		const isValue = sensor === undefined || value === undefined || isSo(value, state);
		return (
			isTime &&
			isValue &&
			PART_KINDS.every(({ name, plural }) => {
				const part = name === "sensor" ? undefined : board[plural]?.[state[name] as string];
				return part === undefined || (part as { readonly on?: boolean }).on === on;
			})
		);
	}
}

/** Whether a press starts the Wi-Fi set-up, which no rule may prevent. */
export const startsSetup = ({ buttons, wifiSetup }: Hardware, button: unknown, long: unknown): boolean =>
	long === true && wifiSetup !== undefined && button === mainButtonOf(buttons);

/** Whether a trigger is an event, with the values that it names. */
const isEvent = (when: RuleTrigger, event: string, values: Readonly<Record<string, unknown>>): boolean =>
	when.event === event &&
	Object.entries(when).every(([name, value]) => name === "event" || value === undefined || value === values[name]);

/** Reads the value of a sensor that a state names; undefined if it has none now. */
const readValue = ({ sensor, kind }: RuleState, { sensors }: Hardware): unknown => {
	const reading = readSensor(sensors?.[sensor ?? ""]);
	return typeof reading === "object" ? reading[kind ?? ""] : reading;
};

/** @param isNew whether to sample a sensor that has no value yet */
const readSensor = (part: Sensor | undefined, isNew = false): Reading | undefined => {
	try {
		return part && ("latest" in part && !isNew ? part.latest : (part.latest ?? part.read()));
	} catch {
		// A sensor that does not answer has no value.
		return undefined;
	}
};

/**
 * Checks that a sensor has the value that a state compares. A sensor without a reading passes.
 *
 * @param isNew whether to sample a sensor that has no value yet
 * @throws Error that names the wrong member
 */
export const expectValue = (path: string, state: RuleState, { sensors }: Hardware, isNew = false): void => {
	const { sensor = "", kind, above, below, value: wanted } = state;
	if ((above ?? below ?? wanted) === undefined) {
		return;
	}
	const reading = readSensor(sensors?.[sensor], isNew);
	const value = typeof reading === "object" ? findPart<unknown>(reading, `${path}kind`, kind ?? "") : reading;
	if (typeof value === "boolean" && wanted === undefined) {
		throw new Error(`${path}${above === undefined ? "below" : "above"}: ${sensor} has no number but ${value}`);
	}
	if (typeof value === "number" && wanted !== undefined) {
		throw new Error(`${path}value: ${sensor} has a number: expected above or below`);
	}
};

/** Whether a value fulfils a state: beyond its limits, or equal. */
const isSo = (value: unknown, { above, below, value: wanted }: RuleState): boolean =>
	typeof value === "number" ? !(value <= (above as number)) && !(value >= (below as number)) : value === wanted;

const isBetween = (time: string | undefined, after = "00:00", before = "24:00"): boolean =>
	time !== undefined && (after < before ? time >= after && time < before : time >= after || time < before);

const cooldownOf = ({ cooldown, when: { at, event, every } }: Reaction): number =>
	at === undefined ? (cooldown ?? ((event ?? every) === undefined ? LIMIT_COOLDOWN : 0)) : DAY_COOLDOWN;
