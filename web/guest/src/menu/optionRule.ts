import { t } from '@shared/i18n'
import type { OptionGroup } from '@shared/options'

/** How many options of a group can be chosen, such as "choose 1" or "up to 3". */
export function optionRule({ min, max, free }: OptionGroup): string {
  return [limits(min, max), free > 0 ? t('option.free', { count: free }) : ''].filter(Boolean).join(', ')
}

function limits(min: number, max: number | null): string {
  if (min === max) return t('option.count', { min })
  if (min > 0) return max === null ? t('option.atLeast', { min }) : t('option.between', { min, max })
  return max === null ? t('option.optional') : t('option.upTo', { max })
}
