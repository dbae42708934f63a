package account

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

var cheapParams = Argon2Params{Memory: 16, Time: 1, Threads: 1}

// chars returns a text of n characters, not all the same.
func chars(n int) string { return string([]rune(strings.Repeat("sợi mì ", n))[:n]) }

func TestCheckPassword(t *testing.T) {
	names := []string{"lan.anh.nguyen@example.com", "lan-anh-nguyen-owner"}
	for _, c := range []struct {
		password string
		staff    bool
		want     error
	}{
		{chars(9), false, errLength}, {chars(10), false, nil}, // characters, not bytes
		{chars(14), true, errLength}, {chars(15), true, nil}, {chars(128), true, nil}, {chars(129), true, errLength},
		{"\xff" + chars(12), false, errLength},
		{"correct horse battery staple", true, nil}, {"Pho bo tai 2 dong nhe", true, nil}, {"一二三四五六七八九十", false, nil},

		{"lan.anh.nguyen@example.com", true, errPasswordName}, {"Lan.Anh.Nguyen@Example.com", true, errPasswordName},
		{"LAN.ANH.NGUYEN", false, errPasswordName}, {"lan-anh-nguyen-owner", true, errPasswordName},
		{"lan-anh-nguyen-owner-7", true, nil},

		{strings.Repeat("a", 10), false, errPasswordRepeat}, {strings.Repeat("ế", 128), true, errPasswordRepeat},
		{strings.Repeat(" ", 15), true, errPasswordRepeat}, {strings.Repeat("12", 8), true, errPasswordRepeat},
		{"abcabcabca", false, errPasswordRepeat}, {"abcdabcdab", false, nil}, {strings.Repeat("a", 14) + "b", true, nil},

		{"password123", false, errPasswordCommon}, {"PassWord123", false, errPasswordCommon},
		{"passwordpassword", true, errPasswordCommon}, {"123456789012345", true, errPasswordCommon},
		{"anhyeuem123", false, errPasswordCommon}, {"matkhau123456", false, errPasswordCommon},
		{"woaini1314", false, errPasswordCommon}, {"ji32k7au4a83", false, errPasswordCommon},
	} {
		err := CheckPassword(c.password, c.staff, names...)
		if errors.Is(c.want, errLength) && err != nil && strings.Contains(err.Error(), " to 128 characters") || errors.Is(err, c.want) {
			continue
		}
		t.Errorf("%q, staff %t: %v, want %v", c.password, c.staff, err, c.want)
	}
	if err := CheckPassword("a plain passphrase", false, "", ""); err != nil {
		t.Errorf("without names: %v", err)
	}
}

// errLength stands for the error about the length of a password.
var errLength = errors.New("the length")

// Every listed password would pass the other rules, and is in lower case.
func TestCommonPasswords(t *testing.T) {
	for word := range commonPasswords() {
		if n := utf8.RuneCountInString(word); n < minPassword || word != strings.ToLower(word) {
			t.Errorf("%q would be refused without the list", word)
		}
	}
	if n := len(commonPasswords()); n < 150 {
		t.Errorf("%d words", n)
	}
}

func TestHasher(t *testing.T) {
	hasher := NewHasher(cheapParams, 1)
	phc, err := hasher.Hash(t.Context(), " Pass wörd 1 ")
	if err != nil || !strings.HasPrefix(phc, "$argon2id$v=19$m=16,t=1,p=1$") {
		t.Fatalf("Hash = %q, %v, want a PHC string of argon2id", phc, err)
	}
	again, _ := hasher.Hash(t.Context(), " Pass wörd 1 ")
	if again == phc {
		t.Error("two hashes share a salt")
	}
	for password, want := range map[string]bool{
		" Pass wörd 1 ": true, "Pass wörd 1": false, " pass wörd 1 ": false, " Pass wo\u0308rd 1 ": false, "": false,
	} {
		if ok, outdated, err := hasher.Verify(t.Context(), phc, password); ok != want || outdated || err != nil {
			t.Errorf("Verify(%q) = %t, outdated %t, %v, want %t", password, ok, outdated, err, want)
		}
	}
	if _, _, err := hasher.Verify(t.Context(), phc, strings.Repeat("x", 129)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a password of 129 characters: %v", err)
	}
}

func TestHasher_outdated(t *testing.T) {
	phc := testenv.Must(NewHasher(cheapParams, 1).Hash(t.Context(), "a password"))(t)
	for _, better := range []Argon2Params{{Memory: 32, Time: 1, Threads: 1}, {Memory: 16, Time: 2, Threads: 1}} {
		if ok, outdated, err := NewHasher(better, 1).Verify(t.Context(), phc, "a password"); !ok || !outdated || err != nil {
			t.Errorf("Verify with %+v = %t, outdated %t, %v, want true and outdated", better, ok, outdated, err)
		}
	}
	if ok, outdated, _ := NewHasher(Argon2Params{Memory: 8, Time: 1, Threads: 1}, 1).Verify(t.Context(), phc, "a password"); !ok || outdated {
		t.Error("a more expensive hash was reported as outdated")
	}
}

// An unreadable hash matches no password. Its verification costs one standard hash, regardless of the cost in its
// parameters.
func TestHasher_Verify_foreign_hashes(t *testing.T) {
	hasher := NewHasher(cheapParams, 1)
	salt, key := strings.Repeat("A", 22), strings.Repeat("A", 43)
	for _, phc := range []string{
		"", "x", "$argon2id$v=19$m=16,t=1,p=1$" + salt, "$argon2i$v=19$m=16,t=1,p=1$" + salt + "$" + key,
		"$argon2id$v=16$m=16,t=1,p=1$" + salt + "$" + key, "$argon2id$v=19$m=4194304,t=100,p=1$" + salt + "$" + key,
		"$argon2id$v=19$m=16,t=0,p=1$" + salt + "$" + key, "$argon2id$v=19$m=16,t=1,p=0$" + salt + "$" + key,
		"$argon2id$v=19$m=16,t=1,p=1$!$" + key, "$argon2id$v=19$m=16,t=1,p=1$" + salt + "$AA",
	} {
		before := hasher.Stats().Computed
		if ok, _, err := hasher.Verify(t.Context(), phc, ""); ok || err != nil {
			t.Errorf("Verify(%q) = %t, %v, want false", phc, ok, err)
		}
		if n := hasher.Stats().Computed - before; n != 1 {
			t.Errorf("%q: %d computations", phc, n)
		}
	}
}

// Few hashes run at once, some wait, and further ones are refused immediately.
func TestHasher_bounded(t *testing.T) {
	hasher := NewHasher(cheapParams, 2)
	hasher.slots <- struct{}{} // take both slots
	hasher.slots <- struct{}{}
	errs := make(chan error, 200)
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			_, err := hasher.Hash(t.Context(), "a password")
			errs <- err
		})
	}
	for range 200 - HashQueue { // refused while both slots are taken
		if err := <-errs; !errors.Is(err, ErrBusy) || fault.KindOf(err) != fault.Unavailable {
			t.Fatalf("Hash with a full queue: error %v, want ErrBusy", err)
		}
	}
	<-hasher.slots
	<-hasher.slots
	all.Wait()
	for range HashQueue {
		testenv.NoError(t, <-errs)
	}
	s := hasher.Stats()
	if s.Computed != HashQueue || s.Refused != 200-HashQueue || s.Peak > 2 || s.Waiting != 0 {
		t.Errorf("Stats = %+v, want at most 2 at a time, and no waiting one", s)
	}
}

// BenchmarkHasher compares bounded verification with the raw hash, which is the limit of the machine.
func BenchmarkHasher(b *testing.B) {
	const password = "correct horse battery staple"
	hasher := NewHasher(DefaultArgon2Params, runtime.GOMAXPROCS(0))
	phc := testenv.Must(hasher.Hash(b.Context(), password))(b)
	e, salt := DefaultArgon2Params, make([]byte, saltBytes)
	b.Run("raw", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				argon2.IDKey([]byte(password), salt, e.Time, e.Memory, e.Threads, hashBytes)
			}
		})
	})
	b.Run("bounded", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if ok, _, err := hasher.Verify(b.Context(), phc, password); !ok || err != nil {
					b.Error(ok, err)
					return
				}
			}
		})
	})
}
