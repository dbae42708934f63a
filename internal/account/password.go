package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"comanda/internal/fault"
)

// Lengths of passwords in characters.
const (
	// Staff passwords are longer, because staff accounts reach other people's data and money.
	minPassword      = 10
	minStaffPassword = 15
	maxPassword      = 128 // bounds the work of hashing; NIST SP 800-63B asks for at least 64
)

// Errors of passwords with an acceptable length.
var (
	errPasswordName   = fault.New(fault.Invalid, "password_unfit", "The password must not be your name or e-mail address.")
	errPasswordRepeat = fault.New(fault.Invalid, "password_unfit", "The password must not be a few characters repeated.")
	errPasswordCommon = fault.New(fault.Invalid, "password_unfit", "This password is too common. Choose another one.")
)

//go:embed passwords.txt
var commonText string

// commonPasswords returns the refused passwords in lower case.
var commonPasswords = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(commonText) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all[line] = true
		}
	}
	return all
})

// CheckPassword returns the rule that a new password breaks, or nil. It takes the password exactly as typed, in any
// script, with spaces and case. It refuses the account's names and common passwords (NIST SP 800-63B, section
// 5.1.1.2).
func CheckPassword(password string, staff bool, names ...string) error {
	least := minPassword
	if staff {
		least = minStaffPassword
	}
	if n := utf8.RuneCountInString(password); n < least || n > maxPassword || !utf8.ValidString(password) {
		return fault.Newf(fault.Invalid, "password_unfit", "A password must have %d to %d characters.", least, maxPassword)
	}
	for _, name := range names {
		local, _, _ := strings.Cut(name, "@")
		if name != "" && (strings.EqualFold(password, name) || strings.EqualFold(password, local)) {
			return errPasswordName
		}
	}
	switch {
	// The list of common passwords cannot contain repetitions of every length.
	case repeats([]rune(password)):
		return errPasswordRepeat
	case commonPasswords()[strings.ToLower(password)]:
		return errPasswordCommon
	}
	return nil
}

// maxRepeated is the maximum length, in characters, of a piece whose repetition alone is refused as a password.
const maxRepeated = 3

// repeats reports whether a text repeats a piece of at most maxRepeated characters. A text repeats a piece of n
// characters exactly if it equals itself shifted by n.
func repeats(text []rune) bool {
	for n := 1; n <= maxRepeated; n++ {
		same := 0
		for same+n < len(text) && text[same] == text[same+n] {
			same++
		}
		if same+n == len(text) {
			return true
		}
	}
	return false
}

// ErrBusy refuses a login because too many hashes wait already.
var ErrBusy = &fault.Error{
	Kind: fault.Unavailable, Code: "busy", Detail: "Too many logins at the moment. Try again in a few seconds.",
	RetryAfter: 2 * time.Second,
}

// Argon2Params is the cost of one argon2id hash.
type Argon2Params struct {
	Memory  uint32 // KiB
	Time    uint32 // passes
	Threads uint8
}

// DefaultArgon2Params is the minimum that OWASP recommends: 19 MiB and two passes, about 20 ms.
var DefaultArgon2Params = Argon2Params{Memory: 19 << 10, Time: 2, Threads: 1}

const (
	saltBytes = 16 // RFC 9106: 128 bits
	hashBytes = 32 // RFC 9106: 256 bits

	// maxHashCost bounds the cost of a stored hash in KiB times passes. No hash of ours exceeds it; a manipulated one
	// would stall the process.
	maxHashCost = 1 << 21
)

// HashQueue is the maximum number of hashes that wait for a slot.
const HashQueue = 32

// Hasher computes and verifies password hashes. It bounds how many run at once, because each takes 19 MiB and a core
// for 20 ms: 200 concurrent logins must not exhaust either. It is safe for concurrent use.
type Hasher struct {
	params  Argon2Params
	slots   chan struct{}
	queue   int64
	waiting atomic.Int64
	running atomic.Int64

	computed atomic.Int64
	refused  atomic.Int64
	peak     atomic.Int64
}

// NewHasher returns a hasher that runs up to atOnce hashes, normally one per core, and lets HashQueue more wait.
func NewHasher(effort Argon2Params, atOnce int) *Hasher {
	return &Hasher{params: effort, slots: make(chan struct{}, max(1, atOnce)), queue: HashQueue}
}

// HasherStats are counts since a hasher was created.
type HasherStats struct {
	Computed int64 // number of hashes, including those for unknown accounts
	Refused  int64 // calls refused with ErrBusy
	Peak     int64 // maximum that ran at once
	Waiting  int64 // waiting now
}

// Stats returns the current counts.
func (h *Hasher) Stats() HasherStats {
	return HasherStats{h.computed.Load(), h.refused.Load(), h.peak.Load(), h.waiting.Load()}
}

// Hash returns the PHC string of a password with a new salt.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	// Each hash has its own salt, so that equal passwords have different hashes.
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails since Go 1.24
	key, err := h.compute(ctx, password, salt, h.params, hashBytes, false)
	if err != nil {
		return "", err
	}
	e := h.params
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, e.Memory, e.Time, e.Threads, base64Raw.EncodeToString(salt), base64Raw.EncodeToString(key)), nil
}

// Verify reports whether a password matches a PHC string, and whether the string is outdated because its cost is below
// the current parameters. For an unreadable or empty string, as of an unknown account, it does the same work and
// returns false.
func (h *Hasher) Verify(ctx context.Context, phc, password string) (ok, outdated bool, err error) {
	return h.verify(ctx, phc, password, false)
}

// verify is Verify. A patient caller waits however many others wait, so the caller must bound them by other means.
func (h *Hasher) verify(ctx context.Context, phc, password string, patient bool) (ok, outdated bool, err error) {
	p, readable := parsePHC(phc)
	if !readable {
		// The stand-in costs as much as a hash with the current parameters. Its result is discarded by readable below.
		p = storedHash{params: h.params, salt: make([]byte, saltBytes), key: make([]byte, hashBytes)}
	}
	key, err := h.compute(ctx, password, p.salt, p.params, len(p.key), patient)
	if err != nil {
		return false, false, err
	}
	ok = subtle.ConstantTimeCompare(key, p.key) == 1 && readable
	outdated = p.params.Memory < h.params.Memory || p.params.Time < h.params.Time || len(p.key) < hashBytes
	return ok, outdated, nil
}

// compute waits for a slot and hashes. Passwords beyond the maximum are refused before they take one.
func (h *Hasher) compute(
	ctx context.Context, password string, salt []byte, e Argon2Params, size int, patient bool,
) ([]byte, error) {
	if utf8.RuneCountInString(password) > maxPassword {
		return nil, fault.Newf(fault.Invalid, "password_unfit", "A password must have at most %d characters.", maxPassword)
	}
	if err := h.enter(ctx, patient); err != nil {
		return nil, err
	}
	defer func() {
		h.running.Add(-1)
		<-h.slots
	}()
	h.computed.Add(1)
	for n, most := h.running.Add(1), h.peak.Load(); n > most && !h.peak.CompareAndSwap(most, n); {
		most = h.peak.Load()
	}
	return argon2.IDKey([]byte(password), salt, e.Time, e.Memory, e.Threads, uint32(size)), nil //nolint:gosec // 32
}

// enter takes a slot, which compute returns. A caller that is not patient gets ErrBusy if the queue is full. The error
// is that of ctx if the client disconnects first; an abandoned request must not cost a hash.
func (h *Hasher) enter(ctx context.Context, patient bool) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	default:
	}
	// The count is raised before it is compared, so that concurrent callers cannot pass the bound together.
	defer h.waiting.Add(-1)
	if h.waiting.Add(1) > h.queue && !patient {
		h.refused.Add(1)
		return ErrBusy
	}
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// storedHash is a parsed PHC string.
type storedHash struct {
	params    Argon2Params
	salt, key []byte
}

var base64Raw = base64.RawStdEncoding

// parsePHC parses an argon2id string of the PHC format. It refuses parameters that would make argon2 panic or stall,
// since the text comes from the database.
func parsePHC(s string) (k storedHash, ok bool) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return k, false
	}
	var version int
	if n, err := fmt.Sscanf(parts[2], "v=%d", &version); n != 1 || err != nil || version != argon2.Version {
		return k, false
	}
	e := &k.params
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &e.Memory, &e.Time, &e.Threads); n != 3 || err != nil {
		return k, false
	}
	var errSalt, errKey error
	k.salt, errSalt = base64Raw.DecodeString(parts[4])
	k.key, errKey = base64Raw.DecodeString(parts[5])
	cost := uint64(e.Memory) * uint64(e.Time)
	ok = errSalt == nil && errKey == nil && len(k.salt) >= 8 && len(k.key) >= 16 && len(k.key) <= 64 &&
		e.Time > 0 && e.Threads > 0 && cost > 0 && cost <= maxHashCost
	return k, ok
}
