import type { TimerHandle, TimerModule } from "../hardware/hardware.js";
import type { Rectangle } from "./brush.js";
import type { FacePainter } from "./face-drawing.js";
import {
	extraArea,
	type FacePlace,
	LEFT_EYE_AREA,
	MOUTH_AREA,
	type Pose,
	REST,
	RIGHT_EYE_AREA,
} from "./face-features.js";

/** The activity of a face. */
type Activity = "still" | "speaking" | "sleeping";

/** Milliseconds of a frame while something moves: 20 frames a second. */
const FRAME = 50;

/** Percent that the eyes are open in the frames of a blink. */
const BLINK = Object.freeze([45, 8, 8, 45, 100]);

/** Milliseconds between blinks, between looks aside, and of a breath out or in. */
const BLINK_PAUSE = Object.freeze([2_400, 4_000] as const);
const GAZE_PAUSE = Object.freeze([1_800, 4_200] as const);
const BREATH = 1_900;

/** Milliseconds of a step of an extra that drips or floats. */
const STEP = 450;

/** Milliseconds from one opening of a speaking mouth to the next, and the openings in percent. */
const SYLLABLE = 100;
const TALK = Object.freeze([100, 30, 70, 15, 85, 45, 60, 20]);

/** Units that the eyes look aside. */
const GAZE_X = 6;
const GAZE_Y = 3;

/** Moves a face: it blinks, looks aside, breathes and speaks. Redraws only the eyes, mouth or extra that moved. */
export class FaceMotion {
	private readonly timer: TimerModule;
	private readonly painter: FacePainter;
	private readonly isSeen: () => boolean;
	private readonly pose: Pose;
	/** The pose before the motion. */
	private readonly before: Pose = { ...REST };
	private next: TimerHandle | undefined;
	private activity: Activity = "still";
	private random = 1;
	private blinkIn = this.randomOf(BLINK_PAUSE);
	private gazeIn = this.randomOf(GAZE_PAUSE);
	private breathIn = BREATH;
	private stepIn = STEP;
	private syllableIn = 0;
	/** Index of the frame of a blink. */
	private blink: number = BLINK.length;
	private aimX = 0;
	private aimY = 0;
	private aimTalk = 0;

	/** @param isSeen whether the face is on the screen, if there is room for it */
	constructor(timer: TimerModule, painter: FacePainter, isSeen: () => boolean) {
		this.timer = timer;
		this.painter = painter;
		this.pose = painter.pose;
		this.isSeen = isSeen;
	}

	/** Sets the activity of the face, after its look has changed. */
	follow(activity: Activity): void {
		if (this.activity !== "speaking" && activity === "speaking") {
			this.stop();
		}
		this.activity = activity;
		this.start();
	}

	/** Stops all motion until {@link start}. */
	stop(): void {
		this.timer.clear(this.next);
		this.next = undefined;
	}

	/** Schedules the next motion, as long as the face is seen. */
	start(): void {
		const { wait } = this;
		if (this.place === undefined) {
			this.stop();
		} else {
			this.next ??= this.timer.set(() => {
				this.next = undefined;
				try {
					this.move(wait);
				} finally {
					this.start();
				}
			}, wait);
		}
	}

	private get place(): FacePlace | undefined {
		return this.isSeen() ? this.painter.place : undefined;
	}

	/** Whether something of the face drips or floats. */
	private get hasSteps(): boolean {
		const { extra } = this.painter.look;
		return extra !== "" && extra !== "glasses" && extra !== "question";
	}

	/** @param time milliseconds that have passed */
	private move(time: number): void {
		const { pose, before, place } = this;
		if (place === undefined) {
			return;
		}
		Object.assign(before, pose);
		this.pass(time, place.unit);
		const bobs = pose.bob !== before.bob;
		if (this.hasSteps && pose.step !== before.step) {
			this.paint(extraArea(this.painter.look.extra), place);
		}
		if (bobs || pose.open !== before.open || pose.gazeX !== before.gazeX || pose.gazeY !== before.gazeY) {
			this.paint(LEFT_EYE_AREA, place);
			this.paint(RIGHT_EYE_AREA, place);
		}
		if (bobs || pose.talk !== before.talk) {
			this.paint(MOUTH_AREA, place);
		}
	}

	/** Draws the part of an area of the face that is on the canvas and above the words. */
	private paint({ x, y, width, height }: Rectangle, place: FacePlace): void {
		const { canvas, wordsTop } = this.painter;
		const left = Math.max(0, Math.floor(place.x + x * place.unit));
		const top = Math.max(0, Math.floor(place.y + y * place.unit));
		const right = Math.min(canvas.width, Math.ceil(place.x + (x + width) * place.unit));
		const bottom = Math.min(wordsTop, Math.ceil(place.y + (y + height) * place.unit));
		this.painter.paint(left, top, right - left, bottom);
	}

	/** Milliseconds until something changes. */
	private get wait(): number {
		const { pose } = this;
		if (
			this.activity === "speaking" ||
			pose.talk > 0 ||
			this.blink < BLINK.length ||
			pose.gazeX !== this.aimX ||
			pose.gazeY !== this.aimY
		) {
			return FRAME;
		}
		const idle = this.activity === "sleeping" ? this.breathIn : Math.min(this.breathIn, this.blinkIn, this.gazeIn);
		return Math.max(FRAME, this.hasSteps ? Math.min(idle, this.stepIn) : idle);
	}

	/** @param unit pixels of a unit */
	private pass(time: number, unit: number): void {
		this.breathe(time, unit);
		this.drip(time);
		this.talk(time);
		if (this.activity === "sleeping") {
			this.pose.open = 100;
			this.blink = BLINK.length;
			this.aimX = 0;
			this.aimY = 0;
		} else {
			this.blinkAfter(time);
			this.lookAside(time, unit);
		}
		this.pose.gazeX = approach(this.pose.gazeX, this.aimX);
		this.pose.gazeY = approach(this.pose.gazeY, this.aimY);
	}

	private breathe(time: number, unit: number): void {
		this.breathIn -= time;
		if (this.breathIn <= 0) {
			this.breathIn = BREATH;
			this.pose.bob = this.pose.bob === 0 ? Math.max(1, Math.round(unit)) : 0;
		}
	}

	private drip(time: number): void {
		this.stepIn -= time;
		if (this.stepIn <= 0) {
			this.stepIn = STEP;
			this.pose.step = this.hasSteps ? (this.pose.step + 1) % 3 : REST.step;
		}
	}

	private talk(time: number): void {
		this.syllableIn -= time;
		if (this.activity !== "speaking") {
			this.aimTalk = 0;
		} else if (this.syllableIn <= 0) {
			this.syllableIn = SYLLABLE;
			this.aimTalk = TALK[this.randomBelow(TALK.length)] ?? 0;
		}
		this.pose.talk = Math.round((this.pose.talk + this.aimTalk) / 2);
		if (this.aimTalk === 0 && this.pose.talk < 10) {
			this.pose.talk = 0;
		}
	}

	private blinkAfter(time: number): void {
		this.blinkIn -= time;
		if (this.blinkIn <= 0) {
			this.blinkIn = this.randomOf(BLINK_PAUSE);
			this.blink = 0;
		}
		this.pose.open = BLINK[this.blink] ?? 100;
		this.blink = Math.min(this.blink + 1, BLINK.length);
	}

	/** Looks aside, and the next time straight ahead again. */
	private lookAside(time: number, unit: number): void {
		this.gazeIn -= time;
		if (this.gazeIn <= 0) {
			this.gazeIn = this.randomOf(GAZE_PAUSE);
			const isAside = this.aimX !== 0 || this.aimY !== 0;
			this.aimX = isAside ? 0 : Math.round((this.randomBelow(3) - 1) * GAZE_X * unit);
			this.aimY = isAside ? 0 : Math.round((this.randomBelow(3) - 1) * GAZE_Y * unit);
		}
	}

	private randomOf([least, more]: readonly [number, number]): number {
		return least + this.randomBelow(more);
	}

	/** Returns a number from 0 to below the limit. MINSTD, not `Math.random`, gives each test the same pictures. */
	private randomBelow(limit: number): number {
		this.random = (this.random * 16_807) % 2_147_483_647;
		return this.random % limit;
	}
}

/** Returns the point halfway to a target, in whole pixels. */
const approach = (from: number, to: number): number => {
	const half = (to - from) / 2;
	return from + (half < 0 ? Math.floor(half) : Math.ceil(half));
};
