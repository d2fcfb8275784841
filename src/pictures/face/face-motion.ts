import { deepFreeze } from "../../text/deep-freeze.js";
import type { Pose } from "./face-features.js";

/** The activity of a face. */
export type Activity = "still" | "speaking" | "sleeping";

/** Milliseconds of a frame while something moves: 20 frames a second. */
const FRAME = 50;

/** Percent that the eyes are open in the frames of a blink. */
const BLINK = deepFreeze([45, 8, 8, 45, 100]);

/** Milliseconds between blinks, between looks aside, and of a breath out or in. */
const BLINK_PAUSE = deepFreeze([2_400, 4_000] as const);
const GAZE_PAUSE = deepFreeze([1_800, 4_200] as const);
const BREATH = 1_900;

/** Milliseconds of a step of what drips or floats. */
const STEP = 450;

/** Milliseconds that a mouth which speaks is on its way to how it is opened next, and percent that it is. */
const SYLLABLE = 100;
const TALK = deepFreeze([100, 30, 70, 15, 85, 45, 60, 20]);

/** Units that the eyes look aside. */
const GAZE_X = 6;
const GAZE_Y = 3;

/** A face at rest, which looks straight ahead. */
export const REST: Readonly<Pose> = deepFreeze({ gazeX: 0, gazeY: 0, bob: 0, open: 100, talk: 0, step: 1 });

/** How a face moves by itself: it blinks, looks aside, breathes and speaks. Has no clock: it is told how much time has passed. */
export class FaceMotion {
	readonly pose: Pose = { ...REST };
	/** Pixels of a unit. */
	unit = 1;
	activity: Activity = "still";
	/** Whether something of the face drips or floats. */
	hasSteps = false;
	private random: number;
	private blinkIn = 0;
	private gazeIn = 0;
	private breathIn = BREATH;
	private stepIn = STEP;
	private syllableIn = 0;
	private blink: number = BLINK.length;
	private aimX = 0;
	private aimY = 0;
	private aimTalk = 0;

	/** @param seed so that two faces do not blink together */
	constructor(seed = 1) {
		this.random = seed;
		this.blinkIn = this.pause(BLINK_PAUSE);
		this.gazeIn = this.pause(GAZE_PAUSE);
	}

	/** Milliseconds until something changes. */
	get wait(): number {
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

	/** @param time milliseconds that have passed */
	pass(time: number): void {
		this.breathe(time);
		this.drip(time);
		this.talk(time);
		if (this.activity === "sleeping") {
			this.pose.open = 100;
			this.blink = BLINK.length;
			this.aimX = 0;
			this.aimY = 0;
		} else {
			this.blinkAfter(time);
			this.lookAside(time);
		}
		this.pose.gazeX = approach(this.pose.gazeX, this.aimX);
		this.pose.gazeY = approach(this.pose.gazeY, this.aimY);
	}

	private breathe(time: number): void {
		this.breathIn -= time;
		if (this.breathIn <= 0) {
			this.breathIn = BREATH;
			this.pose.bob = this.pose.bob === 0 ? Math.max(1, Math.round(this.unit)) : 0;
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
			this.aimTalk = TALK[this.next(TALK.length)] ?? 0;
		}
		this.pose.talk = Math.round((this.pose.talk + this.aimTalk) / 2);
		if (this.aimTalk === 0 && this.pose.talk < 10) {
			this.pose.talk = 0;
		}
	}

	private blinkAfter(time: number): void {
		this.blinkIn -= time;
		if (this.blinkIn <= 0) {
			this.blinkIn = this.pause(BLINK_PAUSE);
			this.blink = 0;
		}
		this.pose.open = BLINK[this.blink] ?? 100;
		this.blink = Math.min(this.blink + 1, BLINK.length);
	}

	/** Every other time straight ahead again. */
	private lookAside(time: number): void {
		this.gazeIn -= time;
		if (this.gazeIn <= 0) {
			this.gazeIn = this.pause(GAZE_PAUSE);
			const isAside = this.aimX !== 0 || this.aimY !== 0;
			this.aimX = isAside ? 0 : Math.round((this.next(3) - 1) * GAZE_X * this.unit);
			this.aimY = isAside ? 0 : Math.round((this.next(3) - 1) * GAZE_Y * this.unit);
		}
	}

	private pause([least, more]: readonly [number, number]): number {
		return least + this.next(more);
	}

	/** A number from 0 to less than the limit. Not `Math.random`: the same pictures in each test. */
	private next(limit: number): number {
		this.random = (this.random * 16_807) % 2_147_483_647;
		return this.random % limit;
	}
}

/** Half of the way, in whole pixels. */
const approach = (from: number, to: number): number => {
	const half = (to - from) / 2;
	return from + (half < 0 ? Math.floor(half) : Math.ceil(half));
};
