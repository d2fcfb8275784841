import type { Chat } from "../hardware/assistant.js";
import type { Press } from "../hardware/button.js";
import type { Face } from "../hardware/hardware.js";
import type { Question, Questions } from "../hardware/questions.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";

interface ButtonQuestionsOptions {
	/** The button that moves the mark. Another one, if the board has any, takes the marked choice. */
	readonly mainButton: string;
	/** How a choice is taken, for a board with one button. */
	readonly hint: string | undefined;
	readonly timer: TimerModule;
	readonly chat: Pick<Chat, "show"> | undefined;
	show(change: Partial<Face>): void;
	/** Plays the sound that draws attention. */
	sound(): void;
}

/** The question on the screen. */
interface Asked extends Question {
	marked: number;
	waited: number;
	readonly resolve: (choice: string | undefined) => void;
	readonly clock: TimerHandle;
	readonly end: TimerHandle;
}

/** Milliseconds between two reports that nobody has answered. */
const REPORT_INTERVAL = 5_000;

/** Asks a person, who chooses by buttons: a press of the main one marks the next choice, a long press takes it. */
export class ButtonQuestions implements Questions {
	readonly #options: ButtonQuestionsOptions;
	#asked: Asked | undefined;

	constructor(options: ButtonQuestionsOptions) {
		this.#options = options;
	}

	ask(question: Question): Promise<string | undefined> {
		const { timer, sound } = this.#options;
		return new Promise((resolve, reject) => {
			if (this.#asked !== undefined) {
				reject(new Error("another question is on the screen"));
				return;
			}
			const clock = timer.repeat(() => this.#report(), REPORT_INTERVAL);
			const end = timer.set(() => this.cancel(), question.time);
			this.#asked = { ...question, marked: 0, waited: 0, resolve, clock, end };
			sound();
			this.#draw();
		});
	}

	cancel(): void {
		this.#end(undefined);
	}

	/** @returns whether the press was for a question */
	pressed(button: string, { long }: Press): boolean {
		const asked = this.#asked;
		if (asked === undefined) {
			return false;
		}
		if (long || asked.choices.length === 1 || button !== this.#options.mainButton) {
			this.#end(asked.choices[asked.marked]);
		} else {
			asked.marked = (asked.marked + 1) % asked.choices.length;
			this.#draw();
		}
		return true;
	}

	#end(choice: string | undefined): void {
		const asked = this.#asked;
		if (asked === undefined) {
			return;
		}
		const { timer, show } = this.#options;
		this.#asked = undefined;
		timer.clear(asked.clock);
		timer.clear(asked.end);
		show({ message: choice ?? "" });
		asked.resolve(choice);
	}

	#report(): void {
		const asked = this.#asked;
		if (asked !== undefined) {
			asked.waited += REPORT_INTERVAL;
			asked.onWait?.(asked.waited, asked.choices[asked.marked] ?? "");
		}
	}

	#draw(): void {
		const asked = this.#asked;
		if (asked !== undefined) {
			const { text, choices, marked } = asked;
			const number = choices.length === 1 ? "" : `${marked + 1}/${choices.length} `;
			const choice = `${text}\n> ${number}${choices[marked]}`;
			const { hint, show, chat } = this.#options;
			show({ message: choices.length === 1 || hint === undefined ? choice : `${choice}\n${hint}` });
			chat?.show(`question: ${choice.replace("\n", " ")}`);
		}
	}
}
