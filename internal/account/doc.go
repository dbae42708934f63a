// Package account owns accounts of staff and members, their sessions, tokens, PINs and one-time codes.
//
// SQL is authoritative. Redis and the process memory cache live sessions, so that a request needs no SQL query. Each
// process reads revocations from SQL every second; a process that has not succeeded for five seconds refuses every
// account.
//
// Invariants of accounts and sessions:
//
//	S1 passwords are stored as argon2id hashes, refresh tokens as SHA-256, codes as HMAC; nothing else of them leaves
//	   the process, and codes are encrypted while they wait in the mail outbox
//	S2 a login computes one hash and a refusal writes once, whether the account exists or not; the number of concurrent
//	   and of waiting hashes is bounded, and guesses at one name run one after the other; failures from a known device
//	   or within a session count only against that device or session, and do not queue behind unknown clients
//	S3 a refresh token is valid once; repeated within ten seconds it returns the same pair, repeated later it ends its
//	   session
//	S4 a session that ended in SQL is refused by every process within five seconds, and at once by the process that
//	   ended it, whatever the state of Redis
//	S5 an account is locked before its sessions change, so that no session begins beside a reset or a disabling
//	S6 an attempt at a code is counted before the code is compared; five attempts per code, twenty per address and day
//	S7 without the password a client learns nothing about an account, except that an e-mail address, a username or a phone
//	   number is taken when it registers or, ten times and then once a minute, changes a profile
package account
