// Groups chats by the date of their last message.

import { language, t } from "./text.js";

/** @param {number} ms */
const startOfDay = (ms) => {
  const day = new Date(ms);
  day.setHours(0, 0, 0, 0);
  return day;
};

/**
 * The key and the title of the group of a time.
 * @param {number} ms since 1970 @param {number} [now]
 * @returns {{ key: string, title: string }}
 */
export const groupOf = (ms, now = Date.now()) => {
  const daysAgo = (/** @type {number} */ days) => {
    const day = startOfDay(now);
    // By the calendar: some days have 23 or 25 hours.
    day.setDate(day.getDate() - days);
    return day.getTime();
  };
  if (ms >= daysAgo(0)) return { key: "today", title: t.chats.groups.today };
  if (ms >= daysAgo(1)) return { key: "yesterday", title: t.chats.groups.yesterday };
  if (ms >= daysAgo(7)) return { key: "week", title: t.chats.groups.week };
  if (ms >= daysAgo(30)) return { key: "month", title: t.chats.groups.month };
  const date = new Date(ms);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  const format = /** @type {Intl.DateTimeFormatOptions} */ ({ month: "long", year: isThisYear ? undefined : "numeric" });
  return {
    key: `${date.getFullYear()}-${date.getMonth()}`,
    title: new Intl.DateTimeFormat(language, format).format(date),
  };
};
