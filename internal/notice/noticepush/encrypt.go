// Package noticepush delivers notices to browsers by Web Push: RFC 8030 for the request, RFC 8291 and RFC 8188 for the
// encryption, RFC 8292 for the identity of the sender.
package noticepush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

const (
	saltBytes  = 16
	keyBytes   = 16 // AES-128
	nonceBytes = 12
	pointBytes = 65   // uncompressed point of P-256
	recordSize = 4096 // also the most that push services must accept (RFC 8030, section 7.2)

	// MaxPayload is the maximum length of a text: the record less its header, delimiter and authentication tag.
	MaxPayload = recordSize - saltBytes - 4 - 1 - pointBytes - 1 - 16
)

// keys are the public key and the secret of a browser.
type keys struct {
	public *ecdh.PublicKey
	auth   []byte
}

var errKeys = errors.New("noticepush: the browser's keys are damaged")

func parseKeys(p256dh, auth string) (k keys, err error) {
	point, err := base64.RawURLEncoding.DecodeString(p256dh)
	if err != nil {
		return k, errKeys // the cause may contain the key
	}
	if k.public, err = ecdh.P256().NewPublicKey(point); err != nil {
		return k, errKeys
	}
	if k.auth, err = base64.RawURLEncoding.DecodeString(auth); err != nil {
		return k, errKeys
	}
	return k, nil
}

// encrypt returns the body of a push message, with a key pair and a salt of its own.
func encrypt(text []byte, to keys) ([]byte, error) {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails since Go 1.24
	return encryptWith(text, to, own, salt)
}

// encryptWith encrypts a text as one record of aes128gcm (RFC 8188, section 2), whose key follows from the shared secret
// of both key pairs and the browser's secret (RFC 8291, section 3.4). A pair of key and salt must not be used twice.
func encryptWith(text []byte, to keys, own *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(text) > MaxPayload {
		return nil, errors.New("noticepush: the text is too long")
	}
	shared, err := own.ECDH(to.public)
	if err != nil {
		return nil, err
	}
	key, nonce, err := contentKey(shared, to.auth, to.public.Bytes(), own.PublicKey().Bytes(), salt)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	id := own.PublicKey().Bytes()
	body := make([]byte, 0, recordSize)
	body = append(body, salt...)
	body = binary.BigEndian.AppendUint32(body, recordSize)
	body = append(body, pointBytes)
	body = append(body, id...)
	// 2 marks the last record.
	return box.Seal(body, nonce, append(append(make([]byte, 0, len(text)+1), text...), 2), nil), nil
}

// contentKey derives the key and the nonce of the only record.
func contentKey(shared, auth, browser, server, salt []byte) (key, nonce []byte, err error) {
	info := "WebPush: info\x00" + string(browser) + string(server)
	secret, err := hkdf.Key(sha256.New, shared, auth, info, sha256.Size)
	if err != nil {
		return nil, nil, err
	}
	pseudorandom, err := hkdf.Extract(sha256.New, secret, salt)
	if err != nil {
		return nil, nil, err
	}
	if key, err = hkdf.Expand(sha256.New, pseudorandom, "Content-Encoding: aes128gcm\x00", keyBytes); err != nil {
		return nil, nil, err
	}
	nonce, err = hkdf.Expand(sha256.New, pseudorandom, "Content-Encoding: nonce\x00", nonceBytes)
	return key, nonce, err
}
