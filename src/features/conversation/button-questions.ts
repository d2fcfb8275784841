import { AppPart, type Listener } from "../../core/listener.js";
import type { Question, Questions, TimerHandle } from "../../hardware/hardware.js";
import { mainButtonOf, type Press } from "../../hardware/kinds/button.js";

interface Asked extends Question {
	marked: number;
	waited: number;
	readonly resolve: (choice: string | undefined) => void;
	readonly clock: TimerHandle;
	readonly end: TimerHandle;
}

/** Milliseconds between reports of progress while nobody answers. */
const REPORT_INTERVAL = 5_000;

/** Asks a person, who chooses by buttons: a press of the main one marks the next choice, a long press selects it. */
export class ButtonQuestions extends AppPart implements Questions, Listener {
	/** Moves the mark. Any other button selects the marked choice. */
	private readonly mainButton = mainButtonOf(this.app.board.buttons);
	private asked: Asked | undefined;

	ask(question: Question): Promise<string | undefined> {
		const { timer } = this.app;
		return new Promise((resolve, reject) => {
			if (this.asked !== undefined) {
				reject(new Error("another question is on the screen"));
				return;
			}
			const clock = timer.repeat(() => {
				if (this.asked !== undefined) {
					const { choices, marked, onWait } = this.asked;
					this.asked.waited += REPORT_INTERVAL;
					onWait?.(this.asked.waited, choices[marked] ?? "");
				}
			}, REPORT_INTERVAL);
			const end = timer.set(() => this.cancel(), question.time);
			this.asked = { ...question, marked: 0, waited: 0, resolve, clock, end };
			void this.app.drawAttention();
			this.draw(this.asked);
		});
	}

	cancel(): void {
		this.end(undefined);
	}

	/** @returns whether the press was for a question */
	onPress(button: string, { long }: Press): boolean {
		const asked = this.asked;
		if (asked === undefined) {
			return false;
		}
		if (long || asked.choices.length === 1 || button !== this.mainButton) {
			this.end(asked.choices[asked.marked]);
		} else {
			asked.marked = (asked.marked + 1) % asked.choices.length;
			this.draw(asked);
		}
		return true;
	}

	private end(choice: string | undefined): void {
		const asked = this.asked;
		if (asked === undefined) {
			return;
		}
		const { app } = this;
		this.asked = undefined;
		app.timer.clear(asked.clock);
		app.timer.clear(asked.end);
		app.show({ message: choice ?? "" });
		asked.resolve(choice);
	}

	private draw({ text, choices, marked }: Asked): void {
		const { app } = this;
		const { words, board } = app;
		const number = choices.length === 1 ? "" : `${marked + 1}/${choices.length} `;
		const choice = `${text}\n> ${number}${choices[marked]}`;
		const hint = words === undefined || choices.length === 1 ? "" : `\n${words.howToChoose}`;
		app.show({ message: `${choice}${hint}` });
		board.chat?.show(`question: ${choice.replace("\n", " ")}`);
	}
}
