package account

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"comanda/internal/seq"
)

// DeviceCookieTTL is how long a device is known after a login.
const DeviceCookieTTL = 180 * 24 * time.Hour

const (
	// Ten entries take less than half of maxDeviceCookie. Browsers send the cookie with every request, so it must stay
	// small.
	maxDeviceEntries = 10   // accounts per device; the oldest is dropped for an eleventh
	maxDeviceCookie  = 2048 // bytes; longer cookies are ignored
	nonceBytes       = 16   // 128 bits: not guessable, and unique without a check

	// deviceItself is the user of the entry that names the device and not an account on it. No account has this id.
	deviceItself     = 0
	fingerprintBytes = 8 // detects a changed password; the tag, not the fingerprint, prevents forgery
)

// DeviceWindow is the time over which wrong passwords of a device are counted.
const DeviceWindow = time.Hour

// maxDeviceFailures is the number of wrong passwords that a known device may send within DeviceWindow before it is
// treated as unknown. It allows for typing errors. A stolen cookie allows 240 guesses a day, at a password of at least
// ten characters, until the password changes.
const maxDeviceFailures = 10

// DeviceCookies issues and reads device cookies, after the OWASP protocol of that name. A cookie has one entry per
// account that logged in on the device. Guesses from a known device count against its entry only, so that strangers who
// guess cannot lock the owner out there. An entry proves that a client knew the account's password on this device; it
// does not log in. It is valid for one account, until the password changes, and at most for DeviceCookieTTL.
//
// One entry names the device itself: its nonce is the device id, which stays the same for all accounts and logins. Because
// it is signed, no client can take the device id of another one (decision 75).
//
// The zero value knows no device. It is safe for concurrent use.
type DeviceCookies struct{ key atomic.Pointer[Key] }

// SetKey sets the key that signs cookies. Cookies signed with another key become invalid.
func (d *DeviceCookies) SetKey(key Key) { d.key.Store(&key) }

// deviceEntry is one entry of a device cookie: user.nonce.expires.fingerprint.tag. The tag signs the rest.
type deviceEntry struct {
	user        int64
	nonce       string    // identifies the entry where its failures are counted
	expires     time.Time // whole seconds
	fingerprint string    // fingerprint of the password hash; reveals a changed password
}

// deviceSeparator separates the entries of a cookie and occurs in none of them.
const deviceSeparator = ":"

// text returns the entry without its tag.
func (m deviceEntry) text() string {
	return strings.Join([]string{decimal(m.user), m.nonce, decimal(m.expires.Unix()), m.fingerprint}, ".")
}

// parse returns the validly signed, unexpired entries of a cookie and drops the others.
func (d *DeviceCookies) parse(cookie string, now time.Time) (good []deviceEntry) {
	key := d.key.Load()
	if key == nil || cookie == "" || len(cookie) > maxDeviceCookie {
		return nil
	}
	for entry := range strings.SplitSeq(cookie, deviceSeparator) {
		cut := strings.LastIndexByte(entry, '.')
		if cut < 0 || !hmac.Equal([]byte(entry[cut+1:]), []byte(fingerprint(*key, "mark", entry[:cut], nonceBytes))) {
			continue
		}
		// The tag is verified before anything else of the entry is read.
		parts := strings.Split(entry[:cut], ".")
		if len(parts) != 4 {
			continue
		}
		user, errUser := strconv.ParseInt(parts[0], 10, 64)
		until, errUntil := strconv.ParseInt(parts[2], 10, 64)
		m := deviceEntry{user, parts[1], time.Unix(until, 0), parts[3]}
		if errUser == nil && errUntil == nil && now.Before(m.expires) {
			good = append(good, m)
		}
	}
	return good
}

// find returns the account's entry, if its password has not changed since.
func (d *DeviceCookies) find(u User, entries []deviceEntry) (m deviceEntry, ok bool) {
	key := d.key.Load()
	if key == nil || u.PasswordHash == "" {
		return m, false
	}
	// The stored hash is salted, so a new password, even the same one again, changes the fingerprint.
	password := fingerprint(*key, "password", u.PasswordHash, fingerprintBytes)
	for _, m := range entries {
		if m.user == u.ID && hmac.Equal([]byte(m.fingerprint), []byte(password)) {
			return m, true
		}
	}
	return m, false
}

// device returns the id of the device of a cookie, or a new one for a device that has none: 32 hexadecimal digits, because
// device ids are compared in lower case. It is empty without a key.
func (d *DeviceCookies) device(cookie string, now time.Time) string {
	if d.key.Load() == nil {
		return ""
	}
	for _, m := range d.parse(cookie, now) {
		if m.user == deviceItself {
			return m.nonce
		}
	}
	id := make([]byte, nonceBytes)
	_, _ = rand.Read(id) // never fails since Go 1.24
	return hex.EncodeToString(id)
}

// add returns the cookie of a device with this id after the account has proved the password with this hash, newest entry
// first after that of the device itself. A previous entry of the same account is replaced, and with it its count of
// failures: the password was just proved.
func (d *DeviceCookies) add(cookie, device string, user int64, passwordHash string, now time.Time) string {
	key := d.key.Load()
	if key == nil {
		return ""
	}
	nonce := make([]byte, nonceBytes)
	_, _ = rand.Read(nonce) // never fails since Go 1.24
	all := []deviceEntry{{
		user, base64.RawURLEncoding.EncodeToString(nonce), now.Add(DeviceCookieTTL),
		fingerprint(*key, "password", passwordHash, fingerprintBytes),
	}}
	for _, m := range d.parse(cookie, now) {
		// Entries that parse dropped, expired or signed by an old key, are not carried over.
		if m.user != user && m.user != deviceItself && len(all) < maxDeviceEntries {
			all = append(all, m)
		}
	}
	all = append([]deviceEntry{{deviceItself, device, now.Add(DeviceCookieTTL), ""}}, all...)
	return strings.Join(seq.Map(all, func(m deviceEntry) string {
		return m.text() + "." + fingerprint(*key, "mark", m.text(), nonceBytes)
	}), deviceSeparator)
}

// fingerprint returns the first size bytes of an HMAC, for one use of the key.
func fingerprint(key Key, use, text string, size int) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(use + " " + text))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:size])
}

// deviceAllowed reports whether a known device, or a session, may still guess within its own limit.
func (a *Service) deviceAllowed(ctx context.Context, device string) (bool, error) {
	n, err := a.SessionStore.DeviceFailures(ctx, device, a.Now().Add(-DeviceWindow))
	return err == nil && n < maxDeviceFailures, err
}

// verifyWithinDeviceBudget verifies a password from a known device or a session. Failures count against the device
// only, so that guesses of strangers do not affect it. ok is false if the device has exhausted its limit and must be
// treated as unknown.
func (a *Service) verifyWithinDeviceBudget(
	ctx context.Context, u User, device, password string,
) (p LoginProof, ok bool, err error) {
	// The count is read before the slow hash and written after it, so concurrent guesses must wait for each other.
	done, err := a.guessLocks.lock(ctx, "device "+device)
	if err != nil {
		return LoginProof{}, true, err
	}
	defer done()
	if ok, err = a.deviceAllowed(ctx, device); !ok || err != nil {
		return LoginProof{}, err != nil, err
	}
	// The comparison waits for a slot however long the queue is, so that a flood of unknown clients cannot displace it
	// (S2). The device's own limit bounds it.
	p, right, err := a.comparePassword(ctx, u, u.PasswordHash, password, true)
	if err == nil && !right {
		a.Observer.login("failed")
		if err = a.SessionStore.RecordDeviceFailure(ctx, device, a.Now()); err == nil {
			err = ErrLogin
		}
	}
	return p, true, err
}

// youngAccount is the age below which logins from new devices cause no e-mail: people register and then log in.
const youngAccount = time.Hour

// newDeviceEmail returns the e-mail about a login from a device without a device cookie, or nil. A device whose entry has
// become invalid because the password changed is not new. Accounts without a verified address get no e-mail.
func (a *Service) newDeviceEmail(u User, c Caller) *Email {
	now := a.Now()
	if u.Email == "" || !u.Registered || now.Sub(u.CreatedAt) < youngAccount {
		return nil
	}
	if slices.ContainsFunc(a.Devices.parse(c.DeviceCookie, now), func(m deviceEntry) bool { return m.user == u.ID }) {
		return nil
	}
	return &Email{
		To: u.Email, Template: TemplateNewDevice, Locale: c.Locale, Expires: now.Add(noticeTTL),
		Fields: map[string]string{FieldName: u.Greeting(), FieldDevice: c.DeviceName},
	}
}
