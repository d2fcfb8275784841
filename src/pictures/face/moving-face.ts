import type { TimerHandle, TimerModule } from "../../hardware/timer.js";
import type { Rectangle } from "./brush.js";
import type { Look } from "./emotions.js";
import {
	type Area,
	extraArea,
	type FacePlace,
	LEFT_EYE_AREA,
	MOUTH_AREA,
	type Pose,
	RIGHT_EYE_AREA,
} from "./face-features.js";
import { type Activity, FaceMotion, REST } from "./face-motion.js";

interface MovingFaceOptions {
	readonly timer: TimerModule;
	/** The place of the face; undefined while it is not seen. */
	readonly place: () => FacePlace | undefined;
	/** Draws a part of the screen again. */
	readonly paint: (part: Rectangle) => void;
}

/** Moves the face: after each motion it draws again the eye or the mouth that has moved. */
export class MovingFace {
	private readonly options: MovingFaceOptions;
	private readonly motion = new FaceMotion();
	/** The pose on the screen. */
	private readonly _drawn: Pose = { ...REST };
	private extra: Look["extra"] = "";
	private timer: TimerHandle | undefined;

	constructor(options: MovingFaceOptions) {
		this.options = options;
	}

	get pose(): Pose {
		return this.motion.pose;
	}

	/** The whole face was drawn in its pose. */
	drawn(): void {
		Object.assign(this._drawn, this.motion.pose);
	}

	/** Sets the activity and the look of the face. */
	follow(activity: Activity, { extra }: Look): void {
		const motion = this.motion;
		const speaksNow = motion.activity !== "speaking" && activity === "speaking";
		motion.activity = activity;
		motion.hasSteps = extra !== "" && extra !== "glasses" && extra !== "question";
		this.extra = extra;
		if (speaksNow) {
			this.close();
		}
		this.moveLater();
	}

	/** Moves no more, until {@link moveLater}. */
	close(): void {
		this.options.timer.clear(this.timer);
		this.timer = undefined;
	}

	/** Moves when it is time, as long as it is seen. */
	moveLater(): void {
		const { wait } = this.motion;
		if (this.options.place() === undefined) {
			this.close();
		} else {
			this.timer ??= this.options.timer.set(() => {
				this.timer = undefined;
				try {
					this.move(wait);
				} finally {
					this.moveLater();
				}
			}, wait);
		}
	}

	private move(time: number): void {
		const place = this.options.place();
		if (place === undefined) {
			return;
		}
		const motion = this.motion;
		motion.unit = place.unit;
		motion.pass(time);
		const drawn = this._drawn;
		const { pose } = motion;
		const bobs = pose.bob !== drawn.bob;
		const looks = pose.open !== drawn.open || pose.gazeX !== drawn.gazeX || pose.gazeY !== drawn.gazeY;
		if (motion.hasSteps && pose.step !== drawn.step) {
			this.paint(extraArea(this.extra), place);
		}
		if (bobs || looks) {
			this.paint(LEFT_EYE_AREA, place);
			this.paint(RIGHT_EYE_AREA, place);
		}
		if (bobs || pose.talk !== drawn.talk) {
			this.paint(MOUTH_AREA, place);
		}
		this.drawn();
	}

	/** Draws an area of the face, as far as it is on the place. */
	private paint({ x, y, width, height }: Area, place: FacePlace): void {
		const left = Math.max(0, Math.floor(place.x + x * place.unit));
		const top = Math.max(0, Math.floor(place.y + y * place.unit));
		const right = Math.ceil(place.x + (x + width) * place.unit);
		const bottom = Math.ceil(place.y + (y + height) * place.unit);
		this.options.paint({ x: left, y: top, width: right - left, height: bottom - top });
	}
}
