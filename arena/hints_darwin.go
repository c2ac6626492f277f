package arena

import "errors"

func adviseHuge([]byte) error {
	return errors.New("this system takes no hint for large pages")
}

func prefault(memory []byte) error {
	touch(memory)
	return nil
}
