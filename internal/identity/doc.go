// Package identity owns accounts, roles, permissions, sessions, tokens and one-time codes: who somebody is, and what
// they may do.
//
// SQL decides. Redis and this process remember who is logged in, so that a request need not ask SQL; who was logged out
// is heard from SQL every second, and a process that has not heard for five seconds admits nobody.
//
// Rules kept here about accounts and sessions:
//
//	S1 of passwords an argon2id string is kept, of refresh tokens the SHA-256, of codes an HMAC; nothing else of them
//	   leaves the process, and codes wait in the mail sealed
//	S2 a login costs one hash, and a refusal one write, whether the account exists or not; few hashes are computed at a
//	   time, few more wait, and guesses at one name come one after the other;
//	   from a known device and within a session they count against that alone, and wait behind no stranger
//	S3 a refresh token is good once; shown again at once it gives the same pair, shown later it ends its session
//	S4 what ended in SQL is refused within five seconds by every process, at once by the one that ended it, whatever
//	   happened to Redis
//	S5 an account is locked before its sessions are changed, so that no session begins beside a reset or a closing
//	S6 an attempt at a code is counted before the code is compared; five attempts, twenty a day for an address
//	S7 whoever does not know a password learns nothing of an account, except that an address is taken when registering
package identity
