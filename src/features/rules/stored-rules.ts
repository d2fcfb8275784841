import type { Application } from "../../core/application.js";
import { AppPart, type Listener } from "../../core/listener.js";
import { utf8Length } from "../../core/text/utf8.js";
import type { Face, Hardware, Settings } from "../../hardware/hardware.js";
import { PART_KINDS, STATUS_KINDS } from "../../hardware/kinds/index.js";
import {
	isRuleName,
	isTimeOfDay,
	KINDS_WITH_RULES,
	MAX_RULE_BYTES,
	MAX_RULES,
	type Rule,
	type RuleBook,
	type RuleState,
	type RuleTrigger,
} from "../../hardware/rules.js";
import type { Tool } from "../../mcp_server/tool.js";
import type { ToolCall } from "../../mcp_server/tool-call.js";
import { validateMembers } from "../../mcp_server/validate.js";
import { findPart } from "../../tools/define-tool.js";
import setRule from "../../tools/set-rule.js";
import { expectValue, PRESS, Reaction, type Reactions, startsSetup } from "./reactions.js";

/** Domain of the stored rules: each as JSON, by the number of its slot, because keys in flash are short. */
const RULES = "rules";

/** Minimum time for which the screen shows the rules, and the time to read a character, ms. */
const SHOWN_TIME = 10_000;
const READING_TIME = 150;

/** Tools of rules, which no rule may call. */
const OWN_TOOLS = "self.rule.";

const CHANGE = "sensor.changed";

/** Rules of clients, stored in the settings. */
export class StoredRules extends AppPart implements RuleBook, Listener {
	private readonly settings = this.app.board.settings as Settings;
	private readonly reactions: Reactions;
	/** Rules by name. Null prototype: a rule may be called "toString". */
	private readonly rules: Record<string, StoredRule> = Object.create(null);
	/** Slots whose rule cannot be read: perhaps a later firmware can. */
	private readonly unreadable: number[] = [];

	constructor(app: Application, reactions: Reactions) {
		super(app);
		this.reactions = reactions;
		Object.assign(app.board, { rules: this.rules, ruleBook: this });
	}

	get all(): readonly object[] {
		return Object.values(this.rules).map((rule) => this.describe(rule));
	}

	get statusKinds(): typeof STATUS_KINDS {
		return Object.keys(this.rules).length > 0 ? KINDS_WITH_RULES : STATUS_KINDS;
	}

	get localTime(): string | undefined {
		const { now } = this.reactions;
		return now && `${now.day} ${now.date} ${now.time}`;
	}

	get awake(): string | undefined {
		return this.reactions.awake;
	}

	set({ name, when, unless, do: calls, cooldown, on }: Rule): object {
		const own = calls.map((call) => ({ ...call, tool: this.ownName(call.tool) }));
		const rule: Rule = { name, when, unless, do: own, cooldown };
		this.check(rule);
		// Measured without `on`, so that each rule can be paused.
		const bytes = utf8Length(JSON.stringify(rule));
		if (bytes > MAX_RULE_BYTES) {
			throw new Error(`the rule has ${bytes} bytes as JSON (limit ${MAX_RULE_BYTES}): shorten it, or divide it in two`);
		}
		return this.store(rule, on);
	}

	turn(name: string, on: boolean): object {
		const rule: Rule = JSON.parse(this.find(name).text);
		if (on) {
			this.check(rule);
		}
		return this.store(rule, on);
	}

	private store(rule: Rule, on = true): object {
		const { name } = rule;
		const text = JSON.stringify({ ...rule, on: on ? undefined : on });
		const former = this.rules[name];
		const slot = former?.slot ?? this.freeSlot();
		if (!this.settings.set(RULES, String(slot), text)) {
			if (former !== undefined) {
				this.settings.set(RULES, String(slot), former.text);
			}
			throw new Error("the rule could not be stored; the device's log has the reason");
		}
		this.drop(former);
		const stored = this.add(new StoredRule({ ...rule, on }, slot, text));
		// The cooldown continues, unless the time of day is new. Intervals start over.
		if (former?.ranAt !== undefined && former.when.at === rule.when.at && rule.when.every === undefined) {
			stored.ranAt = former.ranAt;
		}
		return this.describe(stored);
	}

	delete(name: string): void {
		const rule = this.find(name);
		this.drop(rule);
		this.settings.delete(RULES, String(rule.slot));
	}

	/** Starts the stored rules. One whose part or tool is gone is kept, with its error. */
	onStart(): void {
		for (let slot = 0; slot < MAX_RULES; slot += 1) {
			const text = this.settings.get(RULES, String(slot));
			if (typeof text === "string") {
				this.restore(slot, text);
			}
		}
	}

	/** Shows the rules with the other details: how often each ran, or why it does not run. */
	onFaceChange({ details }: Partial<Face>): void {
		const lines = Object.values(this.rules).map(({ name, on, runs, error }) => {
			const state = on ? `${runs}` : "off";
			return `${name}: ${error ?? state}`;
		});
		if (details && lines.length > 0) {
			const message = lines.join(", ");
			this.app.board.screen?.show({ message }, Math.max(SHOWN_TIME, READING_TIME * message.length));
		}
	}

	private restore(slot: number, text: string): void {
		const { log } = this.app;
		try {
			const rule = validateMembers(setRule.members, JSON.parse(text)) as Rule;
			const stored = this.add(new StoredRule(rule, slot, text));
			try {
				this.check(rule);
			} catch (error) {
				stored.error = (error as Error).message;
				log(`rule ${stored.name}: ${stored.error}`);
			}
		} catch (error) {
			this.unreadable.push(slot);
			log(`rule in slot ${slot} cannot be read: ${String(error)}`);
		}
	}

	private add(rule: StoredRule): StoredRule {
		this.rules[rule.name] = rule;
		this.reactions.add(rule);
		return rule;
	}

	private drop(rule: StoredRule | undefined): void {
		if (rule !== undefined) {
			delete this.rules[rule.name];
			this.reactions.remove(rule);
		}
	}

	/** @throws Error with the names of the rules */
	private find(name: string): StoredRule {
		const rule = this.rules[name];
		if (rule === undefined) {
			const names = Object.keys(this.rules).join(", ") || "none";
			throw new Error(`name: no rule is called ${JSON.stringify(name)}; the device has ${names}`);
		}
		return rule;
	}

	/** Returns a slot without a rule, preferably an empty one. @throws Error if all are taken */
	private freeSlot(): number {
		const taken = Object.values(this.rules).map(({ slot }) => slot);
		const free = Array.from({ length: MAX_RULES }, (_, slot) => slot).filter((slot) => !taken.includes(slot));
		const slot = free.find((each) => !this.unreadable.includes(each)) ?? free[0];
		if (slot === undefined) {
			throw new Error(`rule limit reached (${MAX_RULES}): delete one first`);
		}
		return slot;
	}

	private describe({ text, on, error, runs, ranAt }: StoredRule): object {
		const hasRun = ranAt !== undefined && runs > 0;
		const ago = hasRun ? Math.round(((this.app.ticks() - ranAt) >>> 0) / 1_000) : undefined;
		return { ...(JSON.parse(text) as Rule), on, error, runs, seconds_ago: ago };
	}

	/** The name of a tool that clients of a gateway call `self_switch_set` or `garden__self_switch_set`. */
	private ownName(name: string): string {
		const { byName } = this.app.server.tools;
		const wanted = name.split("__").at(-1);
		const found = byName.has(name)
			? undefined
			: [...byName.values()].find((tool) => tool.name.replaceAll(".", "_") === wanted);
		return found?.name ?? name;
	}

	/** @throws Error that names the member that cannot be used */
	private check({ name: ruleName, when, unless, do: calls }: Rule): void {
		if (!isRuleName(ruleName)) {
			throw new Error(`name: expected letters, digits and "_" after a letter, got ${JSON.stringify(ruleName)}`);
		}
		this.checkTrigger(when);
		if (unless !== undefined) {
			const { above, below, value, sensor, on: _on, kind: _kind, ...others } = unless;
			const hasLimit = (above ?? below ?? value) !== undefined;
			if (hasLimit !== (sensor !== undefined) || (!hasLimit && Object.keys(others).length === 0)) {
				throw new Error(
					"unless: expected a sensor with above, below or value, a part such as a switch, after or before",
				);
			}
			this.checkState("unless", unless);
		}
		for (const [index, { tool: name, arguments: args = {} }] of calls.entries()) {
			const path = `do[${index}]`;
			const { tools, context } = this.app.server;
			const tool = tools.byName.get(name);
			if (tool === undefined) {
				throw new Error(`${path}.tool: unknown tool ${name}${tools.suggestion(name)}`);
			}
			expectAllowed(tool, `${path}.tool: `);
			const names = tool.members.map((member) => member.name);
			const unknown = Object.keys(args).find((each) => !names.includes(each));
			if (unknown !== undefined) {
				throw new Error(`${path}.arguments.${unknown}: unknown, expected ${names.join(", ") || "none"}`);
			}
			tool.check?.(validateMembers(tool.members, args, `${path}.arguments`), context);
			expectNoLoop(when, name, args);
		}
	}

	private checkTrigger(when: RuleTrigger): void {
		const { press, event, every, at, days, sensor } = when;
		const limit = isLimit(when) ? (when.above ?? when.below) : undefined;
		const given = [press, limit === undefined ? event : undefined, every, at, limit];
		if (given.filter((each) => each !== undefined).length !== 1) {
			throw new Error("when: expected one of press, event, every, at, or a sensor with above or below");
		}
		if (limit !== undefined && sensor === undefined) {
			throw new Error("when.sensor: missing, expected the name of a sensor");
		}
		if (days !== undefined && at === undefined) {
			throw new Error("when.days: expected only with at");
		}
		const kind = event === undefined ? undefined : PART_KINDS.find((each) => each.event?.name === event);
		const values = kind && ["event", kind.name, ...(kind.event?.data ?? []).map(({ name }) => name)];
		const unknown = limit === undefined && values && Object.keys(when).find((name) => !values.includes(name));
		if (unknown) {
			throw new Error(`when.${unknown}: no value of ${event}, expected ${values?.slice(1).join(", ")}`);
		}
		if (startsSetup(this.app.board, press ?? when.button, when.long)) {
			throw new Error(`when.long: a long press of ${press ?? when.button} starts the Wi-Fi set-up`);
		}
		this.checkState("when", { ...when, ...(press !== undefined && { button: press }) });
		checkTime("when.at", at);
	}

	private checkState(path: string, state: RuleState): void {
		for (const { name, plural } of PART_KINDS) {
			if (state[name] !== undefined) {
				findPart<unknown>(this.app.board[plural] ?? {}, `${path}.${name}`, state[name] as string);
			}
		}
		expectValue(`${path}.`, state, this.app.board, true);
		checkTime(`${path}.after`, state.after);
		checkTime(`${path}.before`, state.before);
	}
}

/** A rule at rest. Its calls stay text, which takes less heap than objects, and are parsed at each run. */
class StoredRule extends Reaction {
	readonly slot: number;
	readonly text: string;

	constructor(rule: Rule, slot: number, text: string) {
		super({ ...rule, when: normalize(rule.when) });
		this.on = rule.on ?? true;
		this.slot = slot;
		this.text = text;
	}

	async act(hardware: Hardware, _event: object, call: ToolCall): Promise<void> {
		const { tools } = call.session.server;
		for (const { tool: name, arguments: args = {} } of (JSON.parse(this.text) as Rule).do) {
			const tool = tools.byName.get(name);
			if (tool === undefined) {
				throw new Error(`unknown tool ${name}`);
			}
			expectAllowed(tool);
			if (!call.cancelled) {
				await tool.run(validateMembers(tool.members, args), hardware, call);
			}
		}
	}

	override onRan(app: Application): void {
		const { name, error } = this;
		app.log(`rule ${name}: ${error ?? "done"}`);
		app.notify("notifications/rule_ran", { rule: name, ok: error === undefined, error });
	}
}

/** Whether a trigger is a limit of a sensor. It is compared with readings, because events come only in steps. */
const isLimit = ({ event, above, below }: RuleTrigger): boolean =>
	(above ?? below) !== undefined && (event === undefined || event === CHANGE);

const normalize = (when: RuleTrigger): RuleTrigger => {
	const { press, long = false, ...others } = when;
	if (press !== undefined) {
		return { event: PRESS, button: press, long };
	}
	if (isLimit(when)) {
		const { event: _event, ...limit } = others;
		return limit;
	}
	return when;
};

/** @throws Error for a tool of users or of rules, or one whose description asks for confirmation */
const expectAllowed = ({ name, userOnly, isDestructive }: Tool<Hardware>, prefix = ""): void => {
	if (userOnly || isDestructive || name.startsWith(OWN_TOOLS)) {
		throw new Error(`${prefix}no rule may call ${name}`);
	}
};

/**
 * @throws Error if a switch or siren that goes off would be switched on by its own rule: it would exceed `maxOn`, one run
 * after another
 */
const expectNoLoop = (when: RuleTrigger, tool: string, { name, on }: Readonly<Record<string, unknown>>): void => {
	const kind = PART_KINDS.find(({ event, tool: own }) => event && event.name === when.event && own?.name === tool);
	const isOwn = kind?.tool?.sets?.includes("on") && (when[kind.name] ?? name) === name;
	if (isOwn && when.on !== true && on !== false) {
		throw new Error(
			`when: ${name} would switch itself on again each time that it goes off, past its limit: expected on true, or another trigger`,
		);
	}
};

const checkTime = (path: string, time: string | undefined): void => {
	if (time !== undefined && !isTimeOfDay(time)) {
		throw new Error(`${path}: expected a time of day such as 07:00, got ${JSON.stringify(time)}`);
	}
};
