package identity

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
	minPassword      = 10
	minStaffPassword = 15
	maxPassword      = 128
)

// Why a password of the right length is refused.
var (
	errPasswordName   = fault.New(fault.Invalid, "password_unfit", "A password is not the name or the address of its account.")
	errPasswordRepeat = fault.New(fault.Invalid, "password_unfit", "A password is not one character or a few, repeated.")
	errPasswordCommon = fault.New(fault.Invalid, "password_unfit", "This password is among those that are tried first.")
)

//go:embed passwords.txt
var commonText string

// commonPasswords are refused whatever their case.
var commonPasswords = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(commonText) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all[line] = true
		}
	}
	return all
})

// CheckPassword returns what is wrong with a password that somebody chooses for the account of some names. It is taken
// exactly as it comes: spaces, case and characters of every script are the person's own. Refused are the account's names
// and what is tried first (NIST SP 800-63B, section 5.1.1.2).
func CheckPassword(password string, staff bool, names ...string) error {
	least := minPassword
	if staff {
		least = minStaffPassword
	}
	if n := utf8.RuneCountInString(password); n < least || n > maxPassword || !utf8.ValidString(password) {
		return fault.Newf(fault.Invalid, "password_unfit", "A password has %d to %d characters.", least, maxPassword)
	}
	for _, name := range names {
		local, _, _ := strings.Cut(name, "@")
		if name != "" && (strings.EqualFold(password, name) || strings.EqualFold(password, local)) {
			return errPasswordName
		}
	}
	switch {
	case repeats([]rune(password)):
		return errPasswordRepeat
	case commonPasswords()[strings.ToLower(password)]:
		return errPasswordCommon
	}
	return nil
}

// mostRepeated is the length of a piece that a password must not consist of.
const mostRepeated = 3

// repeats reports whether a text is a piece of at most mostRepeated characters again and again.
func repeats(text []rune) bool {
	for n := 1; n <= mostRepeated; n++ {
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

// ErrBusy answers when more passwords wait to be computed than will be soon.
var ErrBusy = &fault.Error{
	Kind: fault.Unavailable, Code: "busy", Detail: "Many people are logging in at this moment; ask again.",
	RetryAfter: 2 * time.Second,
}

// Effort is what one computation of argon2id costs.
type Effort struct {
	Memory  uint32 // KiB
	Time    uint32 // passes
	Threads uint8
}

// DefaultEffort is the floor that OWASP names: 19 MiB and two passes, about 20 ms.
var DefaultEffort = Effort{Memory: 19 << 10, Time: 2, Threads: 1}

const (
	saltBytes = 16
	hashBytes = 32

	// mostEffort bounds what a stored hash may ask for, in KiB times passes; above it stands no hash of ours.
	mostEffort = 1 << 21
)

// HashQueue is how many computations may wait for their turn.
const HashQueue = 32

// Hasher computes and compares passwords, few at a time: each takes its megabytes and its milliseconds, and 200 logins
// at once must not take all of both. It is safe for concurrent use.
type Hasher struct {
	effort  Effort
	slots   chan struct{}
	queue   int64
	waiting atomic.Int64
	running atomic.Int64

	computed atomic.Int64
	refused  atomic.Int64
	peak     atomic.Int64
}

// NewHasher makes a hasher that computes so many at a time, normally one per core, and lets HashQueue wait.
func NewHasher(effort Effort, atOnce int) *Hasher {
	return &Hasher{effort: effort, slots: make(chan struct{}, max(1, atOnce)), queue: HashQueue}
}

// HasherStats are what a hasher has done since it was made.
type HasherStats struct {
	Computed int64 // computations, those for nobody included
	Refused  int64 // answered ErrBusy
	Peak     int64 // the most that ran at a time
	Waiting  int64 // at this moment
}

// Stats tells what was done.
func (h *Hasher) Stats() HasherStats {
	return HasherStats{h.computed.Load(), h.refused.Load(), h.peak.Load(), h.waiting.Load()}
}

// Hash gives the PHC string that is kept of a password, with a salt of its own.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails since Go 1.24
	key, err := h.compute(ctx, password, salt, h.effort, hashBytes, false)
	if err != nil {
		return "", err
	}
	e := h.effort
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, e.Memory, e.Time, e.Threads, plain64.EncodeToString(salt), plain64.EncodeToString(key)), nil
}

// Verify tells whether a password is the one that a PHC string was made of, and whether the string should be made anew
// because less effort stands in it than is asked for now. Without a string, as for an account that does not exist, it
// works just as long and says no.
func (h *Hasher) Verify(ctx context.Context, phc, password string) (ok, outdated bool, err error) {
	return h.verify(ctx, phc, password, false)
}

// verify is Verify. A patient caller waits for a place however many others wait: it must be bounded by other means.
func (h *Hasher) verify(ctx context.Context, phc, password string, patient bool) (ok, outdated bool, err error) {
	p, readable := parsePHC(phc)
	if !readable {
		p = kept{effort: h.effort, salt: make([]byte, saltBytes), key: make([]byte, hashBytes)}
	}
	key, err := h.compute(ctx, password, p.salt, p.effort, len(p.key), patient)
	if err != nil {
		return false, false, err
	}
	ok = subtle.ConstantTimeCompare(key, p.key) == 1 && readable
	outdated = p.effort.Memory < h.effort.Memory || p.effort.Time < h.effort.Time || len(p.key) < hashBytes
	return ok, outdated, nil
}

// compute waits for a place and works. A password that is too long is not worth one.
func (h *Hasher) compute(
	ctx context.Context, password string, salt []byte, e Effort, size int, patient bool,
) ([]byte, error) {
	if utf8.RuneCountInString(password) > maxPassword {
		return nil, fault.Newf(fault.Invalid, "password_unfit", "A password has at most %d characters.", maxPassword)
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

func (h *Hasher) enter(ctx context.Context, patient bool) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	default:
	}
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

// kept is what stands in a PHC string.
type kept struct {
	effort    Effort
	salt, key []byte
}

var plain64 = base64.RawStdEncoding

func parsePHC(s string) (k kept, ok bool) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return k, false
	}
	var version int
	if n, err := fmt.Sscanf(parts[2], "v=%d", &version); n != 1 || err != nil || version != argon2.Version {
		return k, false
	}
	e := &k.effort
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &e.Memory, &e.Time, &e.Threads); n != 3 || err != nil {
		return k, false
	}
	var errSalt, errKey error
	k.salt, errSalt = plain64.DecodeString(parts[4])
	k.key, errKey = plain64.DecodeString(parts[5])
	cost := uint64(e.Memory) * uint64(e.Time)
	ok = errSalt == nil && errKey == nil && len(k.salt) >= 8 && len(k.key) >= 16 && len(k.key) <= 64 &&
		e.Time > 0 && e.Threads > 0 && cost > 0 && cost <= mostEffort
	return k, ok
}
