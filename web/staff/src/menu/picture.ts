import { Fault } from '@shared/api/fault'
import { bearer } from '../shell/session'

/** The maximum size of a picture in bytes, the same as the server's. */
export const maxPictureBytes = 8 * 1024 * 1024

/** The file types that a file dialog offers. */
export const kinds = 'image/jpeg,image/png,image/webp'

export interface Sent {
  id: string
  imageUrl: string
}

/** Uploads a picture of a dish. The server scales and rotates it. */
export async function sendPicture(file: Blob): Promise<Sent> {
  const said = await upload<Partial<Sent>>('POST', '/api/images', file)
  if (said.id && said.imageUrl) return { id: said.id, imageUrl: said.imageUrl }
  throw new Fault('unavailable')
}

/** Sends a picture as the body of a request, with a long time limit for slow connections. */
export async function upload<T>(method: 'POST' | 'PUT', path: string, file: Blob): Promise<T> {
  if (file.size > maxPictureBytes) throw new Fault('image_too_large')
  const headers = { ...(await bearer()), 'Content-Type': file.type || 'application/octet-stream' }
  const response = await fetch(path, { method, headers, body: file, signal: AbortSignal.timeout(90_000) })
    .catch(() => {
      throw new Fault('offline')
    })
  const said = (await response.json().catch(() => ({}))) as T & { code?: string }
  if (response.ok) return said
  throw new Fault(said.code ?? 'unavailable', response.status, said, Number(response.headers.get('Retry-After')) || 0)
}

/** The address of a picture's small size. Pictures that were not uploaded here have only one size. */
export function thumb(imageUrl: string): string {
  return imageUrl.replace(/-960\.jpg$/, '-320.jpg')
}
