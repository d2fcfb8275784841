const SEPARATORS = /[^\p{L}\p{N}\p{M}]+/u;
const CAMEL_CASE = /(\p{Ll}|\p{N})(\p{Lu})/gu;
/** Scripts that put no spaces between words. */
const WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}ー]+/gu;

/** English suffixes to strip, and the letters that must remain before them. */
const ENDINGS = ["nesses", "ness", "ings", "ing", "est", "ers", "er", "ed", "es", "e", "s"];
const MIN_STEM = 3;

/** Stop words. */
const STOP_WORDS = new Set(
	(
		"a an the this that these those it its i me my we us our you your is are was be been am do does did can could would " +
		"will shall should may might must have has had to of in at by for from with and or but as so if then there here " +
		"please kindly just now right hey ok okay want need like let lets make get give tell put go going some any all " +
		"every one two more most bit little too very up down out into onto again currently current device devices tool what " +
		"whats which who when where how why much many long about happening use room self"
	).split(" "),
);

/** Synonyms in English, Chinese and Japanese: a line for each meaning. */
const SUBJECTS = `
volume loud quiet silent mute unmute noise noisy hear softly deafening whisper hush 音量 声音 大声 小声 安静 静音 吵 うるさい 静か ミュート
bright brightness dim dark screen backlight display glare glaring dazzling blinding readable 亮度 屏幕 变亮 调亮 变暗 调暗 太亮 太暗 明るさ 明るく 暗く 画面 ディスプレイ
theme dark appearance mode style skin 主题 模式 深色 浅色 テーマ モード
photo picture pic image snapshot shot snap camera look see watch capture view visible scene 照片 拍 图片 相机 摄像头 看看 写真 撮 カメラ 画像
light lamp led bulb colour color glow illuminate illumination lit hue dim 灯 颜色 电灯 電気 電灯 ライト 照明 明かり 色
sensor temperature warm cold hot heat chilly freezing humidity humid damp moisture dry motion moving movement presence degrees measure 传感器 温度 湿度 冷 热 度 センサー 寒 暑 気温
status state battery charge charging recharge power plugged network wifi signal reception connection online health information 状态 电池 电量 网络 信号 状態 バッテリー 電池 電波 ネットワーク
restart reboot reset 重启 再起動
chime beep ring ding buzz jingle alert attention bell 铃 提示音 チャイム 鳴らして ベル
play song music sound tune track album radio listen melody 播放 音乐 歌 再生 音楽 曲 流して
stop pause silence cease halt end quit 停 止め
timer alarm remind countdown 定时 闹钟 提醒 计时 タイマー アラーム
update upgrade firmware install 更新 升级 固件 アップデート
`;

/** Where devices are. */
const PLACES = `
kitchen 厨房 台所 キッチン
bedroom 卧室 寝室
living lounge 客厅 リビング 居間
bathroom 浴室 卫生间 洗手间 風呂
office study 办公室 书房 オフィス 書斎
nursery 儿童房 婴儿房 子供部屋
garage 车库 ガレージ 車庫
hall corridor hallway 走廊 过道 廊下 ホール
porch entrance 门廊 玄关 玄関 ポーチ
attic loft 阁楼 屋根裏
cellar basement 地下室
garden yard 花园 院子 庭
balcony terrace 阳台 ベランダ
upstairs 楼上 二階
downstairs 楼下 一階
`;

/** Stands before a term that is no word: a subject, or a place. */
const SUBJECT = "#";
const PLACE = "@";

/** The subjects and places that a word means: by stem, or as a part of a text without spaces. */
const meanings = new Map<string, string[]>();
for (const [sign, lines] of [
	[SUBJECT, SUBJECTS],
	[PLACE, PLACES],
] as const) {
	for (const line of lines.trim().split("\n")) {
		const [name, ...others] = line.split(" ") as [string, ...string[]];
		for (const word of [name, ...others].map(stemOf)) {
			meanings.set(word, [...(meanings.get(word) ?? []), sign + name]);
		}
	}
}
/** The longest first: one word may begin with another. */
const knownParts = [...meanings.keys()].filter((word) => /[^a-z]/.test(word)).sort((a, b) => b.length - a.length);
const KNOWN_PARTS = new RegExp(knownParts.join("|"), "gu");

/** Whether a term is a subject or a place, not a word of the text. */
export function isMeaning(term: string): boolean {
	return term.startsWith(SUBJECT) || term.startsWith(PLACE);
}

/** Whether a term names a place. */
export function isPlace(term: string): boolean {
	return term.startsWith(PLACE);
}

/**
 * The terms of a text: stems of words, pairs of characters where a script has no spaces, and what they mean. Names are
 * taken apart.
 */
export function termsOf(text: string): string[] {
	const terms = text.replace(CAMEL_CASE, "$1 $2").split(SEPARATORS).flatMap(termsOfWord);
	// A text with several words of a subject is not more about it than one that has its name.
	return [...terms.filter((term) => !isMeaning(term)), ...new Set(terms.filter(isMeaning))];
}

/** The terms of a query that count. "on" does only if something is turned on. */
export function tellingTerms(query: string): string[] {
	const words = query.replace(CAMEL_CASE, "$1 $2").toLowerCase().split(SEPARATORS);
	const isSwitching = words.some((word) => word === "turn" || word === "switch");
	const telling = words.filter((word) => !STOP_WORDS.has(word) && (isSwitching || word !== "on"));
	return [...new Set((telling.join("") === "" ? words : telling).flatMap(termsOfWord))];
}

/** Whether a query asks for information, not for an action. */
export function isQuestion(query: string): boolean {
	const asks =
		/^(what|how|is|are|which|does|do|when|who|where|has|have|read|check|tell|show)\b|[?？吗呢か]\s*$|多少|几|何/i;
	return asks.test(query.trim());
}

function termsOfWord(word: string): string[] {
	const runs = word.match(WITHOUT_SPACES) ?? [];
	const rest = word.replace(WITHOUT_SPACES, " ").split(" ").filter(Boolean).map(stemOf);
	const parts = runs.flatMap((run) => run.match(KNOWN_PARTS) ?? []);
	return [...rest, ...runs.flatMap(pairs), ...[...rest, ...parts].flatMap((each) => meanings.get(each) ?? [])];
}

/** The stem of a word: "brighter" and "brightness" have the same. */
function stemOf(word: string): string {
	const lower = word.toLowerCase();
	const ending = ENDINGS.find((each) => lower.endsWith(each) && lower.length - each.length >= MIN_STEM);
	return ending === undefined ? lower : lower.slice(0, -ending.length);
}

function pairs(text: string): string[] {
	const characters = [...text];
	return characters.length < 2 ? characters : characters.slice(1).map((each, index) => `${characters[index]}${each}`);
}
