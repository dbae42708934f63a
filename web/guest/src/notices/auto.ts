import { useSession } from '../table/session'
import { guestNotices } from './guest'
import { startPush } from './push'
import type { NoticeSource } from './source'

async function sourceOf(member: boolean): Promise<NoticeSource | undefined> {
  if (!member) {
    const visitId = useSession().draft?.visitId
    return visitId ? guestNotices(visitId) : undefined
  }
  const { memberNotices, tokens } = await import('../member/api')
  return tokens.holder ? memberNotices(tokens.holder) : undefined
}

/** Subscribes this browser after its user has allowed notifications. Without a push service only the open page notifies. */
export async function pushToo(member: boolean): Promise<void> {
  const source = await sourceOf(member)
  if (source) await startPush(source)
}
