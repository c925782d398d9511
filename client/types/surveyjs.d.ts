/** What an application imports from "deniable/surveyjs". */

import type { Answer, Place } from "../deniable_client/browser/types.js";

/** Turn the JSON of a SurveyJS form into a survey as an author writes it. */
export function toSurvey(json: object, settings: { name: string; language?: string; [key: string]: unknown }): object;

/** Write a survey as the file that `deniable check`, `plan` and `serve` take. */
export function toToml(survey: object): string;

/** Turn what SurveyJS holds into answers. */
export function answersOf(json: object, data: object): Record<string, Answer>;

/** Take over what a form does with answers; false if this device has answered. */
export function attach(model: object, place: Place): Promise<boolean>;
