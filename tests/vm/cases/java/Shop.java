// SPDX-License-Identifier: Apache-2.0
// Writes from a method in a method, before its code is compiled and after that.
import java.io.FileOutputStream;

class Shop {
	static int leafOfShop(FileOutputStream file, int n) throws Exception {
		file.write("shop\n".getBytes(), 0, 5);
		return n;
	}

	static int middleOfShop(FileOutputStream file, int n) throws Exception {
		return leafOfShop(file, n) + 1;
	}

	public static void main(String[] words) throws Exception {
		try (FileOutputStream file = new FileOutputStream("/dev/null")) {
			for (int n = 0; n < Integer.parseInt(words[0]); n++)
				middleOfShop(file, n);
		}
	}
}
