import { mainButtonOf, type Press } from "../hardware/kinds/button.js";
import { PART_KINDS } from "../hardware/kinds/index.js";
import { notificationOf, type PartKind } from "../hardware/kinds/part-kind.js";
import { AppPart, type Listener } from "./listener.js";

/** A part as a record of its members. It has all members that its kind's event names. */
type Reporter = Record<string, unknown>;

type PartEvent = NonNullable<PartKind["event"]>;

/**
 * Reports the events of a board's parts to the backend. As on the C++ firmware, a press of the main button starts or stops
 * listening, and a long press starts the set-up. A long press of any button shows details.
 */
export class Inputs extends AppPart implements Listener {
	onStart(): void {
		for (const { name: kind, plural, event } of PART_KINDS) {
			if (event !== undefined) {
				this.follow(kind, event, this.app.board[plural] ?? {});
			}
		}
	}

	private follow(kind: string, event: PartEvent, parts: Readonly<Record<string, object>>): void {
		for (const [name, each] of Object.entries(parts)) {
			const part = each as Reporter;
			part[event.by] =
				kind === "button"
					? (press: Press) => this.press(name, event, press)
					: (...values: readonly unknown[]) => this.report(kind, name, part, event, values);
		}
	}

	/** Sends the notification of an event. Its params are arguments of the callback and members of the part. */
	private report(kind: string, name: string, part: Reporter, event: PartEvent, values: readonly unknown[]): void {
		const { app } = this;
		if (event.isLogged) {
			const [on, cause] = values;
			app.log(`${kind} ${name}: ${on ? "on" : "off"} (${cause})`);
		}
		const params: Record<string, unknown> = { [kind]: name };
		for (const { name: member, at } of event.data) {
			params[member] = at === undefined ? part[member] : values[at];
		}
		app.notify(notificationOf(event.name), params);
	}

	private press(button: string, event: PartEvent, press: Press): void {
		const { app } = this;
		const { buttons, wifiSetup } = app.board;
		const { long, milliseconds } = press;
		app.emit("onUserActivity");
		app.log(`button ${button}: ${long ? "long press" : "press"}`);
		app.notify(notificationOf(event.name), { button, long, milliseconds });
		if (app.emit("onPress", button, press)) {
			return;
		}
		const isMain = button === mainButtonOf(buttons);
		if (long) {
			app.show({ details: true });
		}
		if (isMain && long) {
			wifiSetup?.begin();
		} else if (isMain) {
			app.talk.onMainButton();
		}
	}
}
