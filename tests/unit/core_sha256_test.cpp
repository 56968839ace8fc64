#include <doctest/doctest.h>

#include <string>

#include "sim/core/check.hpp"
#include "sim/core/sha256.hpp"

using namespace podsim;

// NIST's example values for FIPS 180-4.
TEST_CASE("sha256: the published vectors") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_hex(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256: pieces give the digest of the whole, at every length around a block") {
  for (std::size_t length = 50; length <= 130; ++length) {
    const std::string text(length, 'x');
    Sha256 pieces;
    for (std::size_t i = 0; i < length; i += 7) pieces.update(std::string_view(text).substr(i, 7));
    CAPTURE(length);
    CHECK(pieces.finish() == sha256_hex(text));
  }
}

TEST_CASE("sha256: a finished digest takes no more bytes") {
  Sha256 hash;
  hash.finish();
  CHECK_THROWS_AS(hash.update("x"), InternalError);
}
