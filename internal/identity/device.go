package identity

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// DeviceLife is how long a device is known after a login.
const DeviceLife = 180 * 24 * time.Hour

const (
	maxDevices = 10   // accounts that one device is known for; beyond it the oldest is forgotten
	maxMarks   = 2048 // bytes that are read
	nonceBytes = 16
	printBytes = 8
)

// DeviceWindow is the time over which the wrong passwords of a device are counted.
const DeviceWindow = time.Hour

// maxDeviceFailures is how many wrong passwords within DeviceWindow a known device may send before it counts as unknown.
// It is enough for somebody who mistypes. A thief of the mark has 240 guesses a day, at a password of ten and more
// characters, until the next change of the password.
const maxDeviceFailures = 10

// Devices marks devices on which an account has logged in, by the protocol of OWASP's "device cookies": guesses from a
// marked device count against its mark alone, so that strangers who guess cannot lock the owner out there. A mark proves
// that somebody has known the account's password on this device; it logs nobody in. It is good for one account, until
// the password changes, for DeviceLife at most.
//
// The zero value knows no device. It is safe for concurrent use.
type Devices struct{ key atomic.Pointer[Key] }

// Use sets the key that signs marks. Those that were signed with another one count for nothing.
func (d *Devices) Use(key Key) { d.key.Store(&key) }

// mark is one entry of a device's marks: user.nonce.until.password.tag, the tag being the signature of what stands
// before it.
type mark struct {
	user     int64
	nonce    string    // names the mark where its failures are counted
	until    time.Time // whole seconds
	password string    // a print of the password's hash, by which a change shows
}

const markSeparator = ":"

// text is the mark without its tag.
func (m mark) text() string {
	return strings.Join([]string{decimal(m.user), m.nonce, decimal(m.until.Unix()), m.password}, ".")
}

// parse reads the marks that were signed with the key and have not run out; others are left out.
func (d *Devices) parse(marks string, now time.Time) (good []mark) {
	key := d.key.Load()
	if key == nil || marks == "" || len(marks) > maxMarks {
		return nil
	}
	for entry := range strings.SplitSeq(marks, markSeparator) {
		cut := strings.LastIndexByte(entry, '.')
		if cut < 0 || !hmac.Equal([]byte(entry[cut+1:]), []byte(printOf(*key, "mark", entry[:cut], nonceBytes))) {
			continue
		}
		parts := strings.Split(entry[:cut], ".")
		if len(parts) != 4 {
			continue
		}
		user, errUser := strconv.ParseInt(parts[0], 10, 64)
		until, errUntil := strconv.ParseInt(parts[2], 10, 64)
		m := mark{user, parts[1], time.Unix(until, 0), parts[3]}
		if errUser == nil && errUntil == nil && now.Before(m.until) {
			good = append(good, m)
		}
	}
	return good
}

// of returns the mark of an account among some, if the password has not changed since it was made.
func (d *Devices) of(u User, marks []mark) (m mark, ok bool) {
	key := d.key.Load()
	if key == nil || u.PasswordHash == "" {
		return m, false
	}
	password := printOf(*key, "password", u.PasswordHash, printBytes)
	for _, m := range marks {
		if m.user == u.ID && hmac.Equal([]byte(m.password), []byte(password)) {
			return m, true
		}
	}
	return m, false
}

// add returns the marks of a device on which an account has just proved a password of this hash, the newest first.
func (d *Devices) add(marks string, user int64, passwordHash string, now time.Time) string {
	key := d.key.Load()
	if key == nil {
		return ""
	}
	nonce := make([]byte, nonceBytes)
	_, _ = rand.Read(nonce) // never fails since Go 1.24
	all := []mark{{
		user, base64.RawURLEncoding.EncodeToString(nonce), now.Add(DeviceLife),
		printOf(*key, "password", passwordHash, printBytes),
	}}
	for _, m := range d.parse(marks, now) {
		if m.user != user && len(all) < maxDevices {
			all = append(all, m)
		}
	}
	entries := make([]string, len(all))
	for i, m := range all {
		entries[i] = m.text() + "." + printOf(*key, "mark", m.text(), nonceBytes)
	}
	return strings.Join(entries, markSeparator)
}

// printOf is the beginning of an HMAC, for one use of the key.
func printOf(key Key, use, text string, size int) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(use + " " + text))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:size])
}

// trusted reports whether a known device, or a session, may still guess at its account by a budget of its own.
func (a *Accounts) trusted(ctx context.Context, device string) (bool, error) {
	n, err := a.Logins.DeviceFailures(ctx, device, a.Now().Add(-DeviceWindow))
	return err == nil && n < maxDeviceFailures, err
}

// fromDevice compares a password that comes from a known device. Neither what strangers have guessed nor how busy they
// keep this process counts; what fails counts against the device alone. ok is false when the device is not trusted any
// more: then it is a stranger's.
func (a *Accounts) fromDevice(ctx context.Context, u User, device, password string) (p Proof, ok bool, err error) {
	done, err := a.guesses.take(ctx, "device "+device)
	if err != nil {
		return Proof{}, true, err
	}
	defer done()
	if ok, err = a.trusted(ctx, device); !ok || err != nil {
		return Proof{}, err != nil, err
	}
	p, right, err := a.compare(ctx, u, u.PasswordHash, password, true)
	if err == nil && !right {
		a.Observer.login("failed")
		if err = a.Logins.FailDevice(ctx, device, a.Now()); err == nil {
			err = ErrLogin
		}
	}
	return p, true, err
}
