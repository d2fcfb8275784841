import type { Board } from "../hardware/hardware.js";

/** Gives a board whose screen shows the volume whenever it is set. A board without the two parts stays as it is. */
export function withVisibleVolume(board: Board): Board {
	const { speaker, screen } = board;
	if (speaker === undefined || screen === undefined) {
		return board;
	}
	return {
		...board,
		close: () => board.close(),
		speaker: {
			get volume(): number {
				return speaker.volume;
			},
			set volume(volume: number) {
				speaker.volume = volume;
				screen.show({ volume });
			},
		},
	};
}
