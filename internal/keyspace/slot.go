package keyspace

import "strings"

const slots = 16384

// Slot returns the hash slot of a raw key: CRC16 of the hash tag, or of the whole key if it has none, modulo 16384
// (Redis Cluster specification, "Hash tags"). The tag is the text between the first { and the next }, if it is not
// empty. It is computed here so that a call whose keys are in different slots is refused before it is sent, on every
// kind of server. Otherwise only a Cluster would reveal the mistake.
func Slot(key string) uint16 {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			key = tag
		}
	}
	return crc16(key) % slots
}

// crc16 computes CRC-16/XMODEM: polynomial 0x1021, initial value 0, no reflection.
func crc16(s string) uint16 {
	var crc uint16
	for i := range len(s) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^s[i]]
	}
	return crc
}

var crcTable = func() (t [256]uint16) {
	for i := range t {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
		t[i] = crc
	}
	return t
}()
