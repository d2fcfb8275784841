/** Outlines of 24 by 24, each one SVG path. */
export const ICON_PATHS = {
	chip: "M7 7h10v10H7zM9 2v5m6-5v5M9 17v5m6-5v5M2 9h5m-5 6h5M17 9h5m-5 6h5",
	status: "M3 12h4l3 7 4-14 3 7h4",
	sound: "M3 9v6h4l5 4V5L7 9zM16 9q3 3 0 6",
	screen: "M3 4h18v12H3zM8 20h8",
	camera: "M3 7h4l2-3h6l2 3h4v12H3zM12 10a3 3 0 1 0 .1 0",
	light: "M9 18h6m-5 3h4M8 14a5 5 0 1 1 8 0l-1 2H9z",
	power: "M12 3v8M7 6a8 8 0 1 0 10 0",
	update: "M12 3v11m-4-4 4 4 4-4M4 19h16",
	server: "M4 4h16v7H4zM4 13h16v7H4zM7 7.5h2m-2 9h2",
} as const;

export type IconName = keyof typeof ICON_PATHS;
